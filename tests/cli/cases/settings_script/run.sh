#!/bin/sh
# export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512
export PYTORCH_ALLOC_CONF="expandable_segments:True"
SIZE=128
export PYTORCH_CUDA_ALLOC_CONF="max_split_size_mb:$SIZE"
PYTORCH_CUDA_ALLOC_CONF=roundup_power2_divisions:[32:4,>:8] python train.py
