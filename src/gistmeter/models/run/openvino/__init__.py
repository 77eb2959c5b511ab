"""OpenVINO as a backend: conversion, its cache, and 8 bits."""
