"""OpenVINO backend: conversion, conversion cache and int8 quantization."""
