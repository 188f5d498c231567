//! Settings of the allocator.
//!
//! Once an allocation of up to 32 MiB has been freed, glibc takes the next ones of that size from its heap, and
//! cannot give their memory back while anything behind it is in use. The call is unsafe.
#![allow(unsafe_code)]

/// Bytes from which an allocation has pages of its own.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_PAGES: std::ffi::c_int = 1 << 20;

/// Makes freed allocations of a MiB or more go back to the operating system at once, so that a process has
/// little more memory than it uses. For programs to call when they start. Does nothing where the C library
/// is not glibc.
pub fn release_large_allocations() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call sets a number. A refusal changes nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_PAGES);
    }
}
