/// The calls of the own API of webhooks; routes.cpp says what each is.
#pragma once

#include "api/call.h"
#include "api/write.h"

namespace hk::api::webhooks {

// delivery.cpp
void get_delivery(const Services& services, Call& call);
Write patch_delivery(const Services& services, Call& call);

// settings.cpp
void get_settings(const Services& services, Call& call);
Write patch_settings(const Services& services, Call& call);

// state.cpp
void get_state(const Services& services, Call& call);
Write pause(const Services& services, Call& call);
Write resume(const Services& services, Call& call);

// replays.cpp
Write create_replay(const Services& services, Call& call);
void list_replays(const Services& services, Call& call);
void get_replay(const Services& services, Call& call);
Write pause_replay(const Services& services, Call& call);
Write resume_replay(const Services& services, Call& call);
Write cancel_replay(const Services& services, Call& call);
Write patch_replay(const Services& services, Call& call);
void get_task(const Services& services, Call& call);

}  // namespace hk::api::webhooks
