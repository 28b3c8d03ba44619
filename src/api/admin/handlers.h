/// What operators and their tools ask: health, metrics, backups, tenants. Called on I/O threads
/// through the route table.
#pragma once

#include "api/call.h"
#include "api/write.h"

namespace hk::api::admin {

void healthz(const Services& services, Call& call);
void readyz(const Services& services, Call& call);
void metrics(const Services& services, Call& call);
/// POST {"directory": "…"}: 200 when the backup is complete. One at a time: 409 meanwhile.
void backup(const Services& services, Call& call);

void list_tenants(const Services& services, Call& call);
/// POST {"name": "…"}: 201 with the token and the signing keys of the new tenant.
Write create_tenant(const Services& services, Call& call);
Write rotate_token(const Services& services, Call& call);

void list_access_keys(const Services& services, Call& call);
/// POST: 201 with the id and the secret of the new key.
Write create_access_key(const Services& services, Call& call);
Write revoke_access_key(const Services& services, Call& call);

}  // namespace hk::api::admin
