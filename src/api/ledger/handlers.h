/// /api/v1/ledger: books, accounts, transactions, batches and what can be read of them. Called on
/// I/O threads through the route table. `call.param` is the book.
#pragma once

#include "api/call.h"
#include "api/write.h"

namespace hk::api::ledger {

// ---- books.cpp ----
Write create_book(const Services& services, Call& call);
void list_books(const Services& services, Call& call);
void get_book(const Services& services, Call& call);
Write change_book(const Services& services, Call& call);
Write close_book(const Services& services, Call& call);
Write add_currency(const Services& services, Call& call);
void list_currencies(const Services& services, Call& call);
Write erase_metadata(const Services& services, Call& call);

// ---- accounts.cpp ----
Write create_account(const Services& services, Call& call);
void list_accounts(const Services& services, Call& call);
void get_account(const Services& services, Call& call);
Write change_account(const Services& services, Call& call);
void get_balances(const Services& services, Call& call);
void list_entries(const Services& services, Call& call);

// ---- transactions.cpp ----
Write create_transaction(const Services& services, Call& call);
Write preview_transaction(const Services& services, Call& call);
Write post_hold(const Services& services, Call& call);
Write void_hold(const Services& services, Call& call);
Write reverse_transaction(const Services& services, Call& call);
Write set_transaction_metadata(const Services& services, Call& call);
void get_transaction(const Services& services, Call& call);

// ---- search.cpp ----
void list_transactions(const Services& services, Call& call);

// ---- batches.cpp ----
Write apply_batch(const Services& services, Call& call);
/// The answer to a batch again, for an Idempotency-Key.
http::Response show_batch(const Services& services, core::TenantId tenant,
                          std::string_view reference);

// ---- records.cpp ----
void list_records(const Services& services, Call& call);
void list_checkpoints(const Services& services, Call& call);

// ---- followers.cpp ----
Write add_subscription(const Services& services, Call& call);
void list_subscriptions(const Services& services, Call& call);
Write remove_subscription(const Services& services, Call& call);
Write add_monitor(const Services& services, Call& call);
void list_monitors(const Services& services, Call& call);
Write remove_monitor(const Services& services, Call& call);

// ---- what is read of many accounts, or of the whole log ----
void statement(const Services& services, Call& call);
void aggregate(const Services& services, Call& call);
Write set_rollup(const Services& services, Call& call);
void list_rollups(const Services& services, Call& call);
void trial_balance(const Services& services, Call& call);
void report(const Services& services, Call& call);
void export_log(const Services& services, Call& call);
// ---- recon.cpp ----
Write set_recon_source(const Services& services, Call& call);
Write import_recon_lines(const Services& services, Call& call);
void list_recon_lines(const Services& services, Call& call);
Write decide_recon(const Services& services, Call& call);
void recon_report(const Services& services, Call& call);

// ---- import.cpp ----
Write import_log(const Services& services, Call& call);

void prove(const Services& services, Call& call);
void verify(const Services& services, Call& call);

}  // namespace hk::api::ledger
