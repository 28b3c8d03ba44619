/// The calls of inbound sources. I/O threads.
#pragma once

#include "api/call.h"
#include "api/write.h"

namespace hk::api::sources {

// door.cpp
void receive_inbound(const Services& services, Call& call);

// manage.cpp
Write create_source(const Services& services, Call& call);
Write change_source(const Services& services, Call& call);
Write delete_source(const Services& services, Call& call);
Write add_secret(const Services& services, Call& call);
Write remove_secret(const Services& services, Call& call);

// show.cpp
void list_sources(const Services& services, Call& call);
void get_source(const Services& services, Call& call);
void list_source_events(const Services& services, Call& call);

// quarantine.cpp
void list_quarantine(const Services& services, Call& call);
void get_quarantined(const Services& services, Call& call);
Write reverify_quarantine(const Services& services, Call& call);
Write release_quarantined(const Services& services, Call& call);
Write drop_quarantined(const Services& services, Call& call);

}  // namespace hk::api::sources
