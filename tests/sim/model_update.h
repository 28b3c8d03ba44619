/// The two ways in which the model changes; both remember how to take the change back.
#pragma once

#include <utility>

#include "sim/model.h"

namespace hk::sim {

template <class Change>
void Model::update(core::Seq seq, Change change) {
  ModelMessage& message = messages_.at(seq);
  ModelMessage before = message;
  take_from_views(message);
  change(message);
  add_to_views(message);
  undo_.push_back({batch_, [this, seq, before = std::move(before)] {
                     ModelMessage& now = messages_[seq];
                     if (now.content != nullptr) {
                       take_from_views(now);
                     }
                     now = before;
                     add_to_views(now);
                   }});
}

template <class Map>
void Model::save(Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  if (found == map.end()) {
    undo_.push_back({batch_, [&map, key] { map.erase(key); }});
    return;
  }
  undo_.push_back({batch_, [&map, key, before = found->second] { map[key] = before; }});
}

}  // namespace hk::sim
