//! Where the allocator takes the memory of long lists from.
//!
//! The C library moves lists of up to 32 MiB into its own heap once one of them has been freed, and cannot
//! give their memory back while anything behind it is in use. The call is unsafe.
#![allow(unsafe_code)]

/// Bytes from which a list has pages of its own.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_PAGES: std::ffi::c_int = 1 << 20;

/// Makes freed lists of a MiB or more go back to the operating system at once, so that a process has little
/// more memory than it uses. For programs to call when they start. Does nothing where the C library is
/// not glibc.
pub fn release_large_lists() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call sets a number. A refusal changes nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_PAGES);
    }
}
