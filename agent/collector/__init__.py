"""Samples of devices and host. NVML is only ever called in a child process, which a hung call may cost."""
