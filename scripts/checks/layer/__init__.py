"""Checks of the Yocto layer, without the layers below it and against them."""
