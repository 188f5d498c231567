//! Settings of the allocator of the C library.
//!
//! Once an allocation of up to 32 MiB has been freed, glibc takes later allocations of that size from its
//! heap. It cannot return their memory to the system while any memory after them is in use. The call that
//! changes this is unsafe.
#![allow(unsafe_code)]

/// Size in bytes from which an allocation gets its own pages.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_PAGES: std::ffi::c_int = 1 << 20;

/// Makes freed allocations of 1 MiB or more return to the operating system at once, so that a process
/// holds little more memory than it uses. Programs call it when they start. Does nothing if the C library
/// is not glibc.
pub fn release_large_allocations() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call sets a number. If it fails, nothing changes.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_PAGES);
    }
}
