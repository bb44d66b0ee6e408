// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "core/intern.h"

namespace rdma_exporter::core {

using Label = std::pair<std::string_view, std::string_view>;

/// Renders labels as they stand between the braces of a sample: `device="mlx5_0",port="1"`.
/// Values are repaired to UTF-8 and escaped (backslash, quote, newline) as text format 0.0.4 and OpenMetrics
/// 1.0 both want. Rendered once per device or port and reused for every sample.
std::string render_labels(std::initializer_list<Label> labels);
/// The same as the one copy of this block, for labels of a device or port, which its jobs share.
SharedText shared_labels(std::initializer_list<Label> labels);

/// Calls `visit(name, value)` for each label of a rendered block, in order, with the unescaped value. The
/// views are valid during the call only.
void for_each_label(std::string_view block,
                    const std::function<void(std::string_view name, std::string_view value)>& visit);

/// Appends one label to a rendered block.
void append_label(std::string& block, std::string_view name, std::string_view value);

}  // namespace rdma_exporter::core
