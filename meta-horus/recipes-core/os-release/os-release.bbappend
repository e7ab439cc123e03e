# What the audit and the reports name the image by; the version is the runtime's.
OS_RELEASE_FIELDS:append:horus-os = " IMAGE_ID IMAGE_VERSION"
OS_RELEASE_UNQUOTED_FIELDS:append:horus-os = " IMAGE_ID IMAGE_VERSION"
IMAGE_ID:horus-os = "horus"
IMAGE_VERSION:horus-os = "${@horus.conf.version(d)}"
