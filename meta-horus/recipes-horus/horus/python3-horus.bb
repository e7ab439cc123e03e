SUMMARY = "The Python module horus: topics, messages and nodes"
DESCRIPTION = "One extension module for every CPython from 3.11 on, by a plain cargo build. The option python (kas/python.yml) brings it with NumPy."
SECTION = "devel/python"

require horus-sources.inc
inherit python3-dir

# The stable interface is the same in every CPython, so none is looked for where this is built.
export PYO3_NO_PYTHON = "1"

do_compile() {
    oe_cargo_build ${@horus.conf.module_arguments(d)}
}

do_install() {
    ${S}/conf/install --destdir ${D} --module ${B}/target/${CARGO_TARGET_SUBDIR} --site .${PYTHON_SITEPACKAGES_DIR}
}

FILES:${PN} += "${PYTHON_SITEPACKAGES_DIR}/horus"
# What its own modules import of Python's library; arrays are NumPy's where it is there.
RDEPENDS:${PN} = "python3-asyncio python3-core"
RRECOMMENDS:${PN} = "python3-numpy"
