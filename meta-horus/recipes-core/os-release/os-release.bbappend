# What the audit and the reports name the image by; the version is the runtime's.
OS_RELEASE_FIELDS:append:horus-os = " IMAGE_ID IMAGE_VERSION"
OS_RELEASE_UNQUOTED_FIELDS:append:horus-os = " IMAGE_ID IMAGE_VERSION"
IMAGE_ID:horus-os = "horus"
IMAGE_VERSION:horus-os = "${@horus.conf.version(d)}"
# Who answers for the image, and until when (conf/image.toml); a field without a value is left out.
OS_RELEASE_FIELDS:append:horus-os = " VENDOR_NAME HORUS_SECURITY_CONTACT SUPPORT_END"
VENDOR_NAME:horus-os = "${@horus.conf.vendor(d, 'VENDOR_NAME')}"
HORUS_SECURITY_CONTACT:horus-os = "${@horus.conf.vendor(d, 'HORUS_SECURITY_CONTACT')}"
SUPPORT_END:horus-os = "${@horus.conf.vendor(d, 'SUPPORT_END')}"
