// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/sample_batch.h"

// What the two text formats have in common.
namespace rdma_exporter::core {

/// Appends `help` with a backslash before each of the characters `escaped`; a newline becomes \n.
void append_help(std::string& out, std::string_view help, std::string_view escaped);

/// Appends the labels of a sample in braces, or nothing if it has none.
void append_labels(std::string& out, const Sample& sample);

/// Appends a time in seconds since the epoch, with millisecond precision.
void append_time(std::string& out, double time);

/// Appends a line for each sample of one counter or gauge.
void append_samples(std::span<const Sample* const> samples, std::string& out);

enum class WithExemplars : bool { no, yes };
/// Appends the lines `_bucket`, `_sum` and `_count` of one histogram.
void append_histogram(const Sample& sample, WithExemplars exemplars, std::string& out);

}  // namespace rdma_exporter::core
