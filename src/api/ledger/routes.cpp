// The ledger: books, accounts, transactions. `/api/v1/ledger/-` stands for
// `/api/v1/ledger/books/main` everywhere (short_path.h).
#include <array>

#include "api/ledger/handlers.h"
#include "api/route.h"

namespace hk::api::ledger {

namespace {

// clang-format off
constexpr std::array ledger_routes = {
    Route{"POST", "/api/v1/ledger/books", Access::tenant, create_book,
          {.tag = "ledger", .summary = "Create a book", .request = "NewLedgerBook", .status = 201, .response = "LedgerBook"}},
    Route{"GET", "/api/v1/ledger/books", Access::tenant, list_books,
          {.tag = "ledger", .summary = "List books, oldest first", .query = "limit cursor", .response = "LedgerBookPage"}},
    Route{"GET", "/api/v1/ledger/books/{book}", Access::tenant, get_book,
          {.tag = "ledger", .summary = "Show a book", .query = "as_of_seq", .response = "LedgerBook"}},
    Route{"PATCH", "/api/v1/ledger/books/{book}", Access::tenant, change_book,
          {.tag = "ledger", .summary = "Change name, metadata or indexed keys of a book",
           .request = "LedgerBookChange", .response = "LedgerBook"}},
    Route{"POST", "/api/v1/ledger/books/{book}/close", Access::tenant, close_book,
          {.tag = "ledger", .summary = "Close a period, or reopen it", .request = "LedgerClose", .response = "LedgerBook"}},
    Route{"POST", "/api/v1/ledger/books/{book}/erase", Access::tenant, erase_metadata,
          {.tag = "ledger", .summary = "Erase values of metadata for ever; the chain still verifies",
           .request = "LedgerErasure", .response = "LedgerErased"}},
    Route{"POST", "/api/v1/ledger/books/{book}/currencies", Access::tenant, add_currency,
          {.tag = "ledger", .summary = "Register a currency", .request = "LedgerCurrency", .status = 201,
           .response = "LedgerCurrency"}},
    Route{"GET", "/api/v1/ledger/books/{book}/currencies", Access::tenant, list_currencies,
          {.tag = "ledger", .summary = "List the currencies that the book knows", .response = "LedgerCurrencyList"}},

    Route{"POST", "/api/v1/ledger/books/{book}/accounts", Access::tenant, create_account,
          {.tag = "ledger", .summary = "Create an account", .request = "NewLedgerAccount", .status = 201,
           .response = "LedgerAccount"}},
    Route{"GET", "/api/v1/ledger/books/{book}/accounts", Access::tenant, list_accounts,
          {.tag = "ledger", .summary = "List accounts, oldest first",
           .query = "prefix type state metadata[key] currency available_gte available_lt limit cursor",
           .response = "LedgerAccountPage"}},
    Route{"GET", "/api/v1/ledger/books/{book}/accounts/{account}", Access::tenant, get_account,
          {.tag = "ledger", .summary = "Show an account, by id or path", .query = "as_of_seq", .response = "LedgerAccount"}},
    Route{"PATCH", "/api/v1/ledger/books/{book}/accounts/{account}", Access::tenant, change_account,
          {.tag = "ledger", .summary = "Change limits, state or metadata of an account",
           .request = "LedgerAccountChange", .response = "LedgerAccount"}},
    Route{"GET", "/api/v1/ledger/books/{book}/accounts/{account}/balances", Access::tenant, get_balances,
          {.tag = "ledger", .summary = "Show the balances of an account, now or at a past moment",
           .query = "currency as_of_effective as_of_recorded as_of_seq", .response = "LedgerBalances"}},
    Route{"GET", "/api/v1/ledger/books/{book}/accounts/{account}/entries", Access::tenant, list_entries,
          {.tag = "ledger", .summary = "List the entries of an account, newest first", .query = "currency kind limit cursor",
           .response = "LedgerEntryPage"}},

    Route{"POST", "/api/v1/ledger/books/{book}/transactions", Access::tenant, create_transaction,
          {.tag = "ledger", .summary = "Create a transaction", .query = "balances", .request = "NewLedgerTransaction",
           .status = 201, .response = "LedgerTransaction"}},
    Route{"GET", "/api/v1/ledger/books/{book}/transactions", Access::tenant, list_transactions,
          {.tag = "ledger", .summary = "Search transactions, newest first",
           .query = "account prefix currency side kind state reference amount_min amount_max effective_from effective_to "
                    "recorded_from recorded_to metadata[key] limit cursor",
           .response = "LedgerTransactionPage"}},
    Route{"POST", "/api/v1/ledger/books/{book}/transactions/preview", Access::tenant, preview_transaction,
          {.tag = "ledger", .summary = "Check a transaction and show what it would do; nothing is written",
           .query = "balances", .request = "NewLedgerTransaction", .response = "LedgerTransaction"}},
    Route{"GET", "/api/v1/ledger/books/{book}/transactions/{transaction}", Access::tenant, get_transaction,
          {.tag = "ledger", .summary = "Show a transaction", .query = "as_of_seq", .response = "LedgerTransaction"}},
    Route{"POST", "/api/v1/ledger/books/{book}/transactions/{transaction}/post", Access::tenant, post_hold,
          {.tag = "ledger", .summary = "Post a hold, whole or in part", .query = "balances", .request = "LedgerFollowing",
           .status = 201, .response = "LedgerTransaction"}},
    Route{"POST", "/api/v1/ledger/books/{book}/transactions/{transaction}/void", Access::tenant, void_hold,
          {.tag = "ledger", .summary = "Release a hold", .query = "balances", .request = "LedgerFollowing", .status = 201,
           .response = "LedgerTransaction"}},
    Route{"POST", "/api/v1/ledger/books/{book}/transactions/{transaction}/reverse", Access::tenant_or_admin, reverse_transaction,
          {.tag = "ledger", .summary = "Reverse a transaction, whole or in part", .query = "balances",
           .request = "LedgerFollowing", .status = 201, .response = "LedgerTransaction"}},
    Route{"PATCH", "/api/v1/ledger/books/{book}/transactions/{transaction}/metadata", Access::tenant, set_transaction_metadata,
          {.tag = "ledger", .summary = "Add, change or remove metadata of a transaction", .request = "LedgerMetadata",
           .response = "LedgerTransaction"}},

    Route{"POST", "/api/v1/ledger/books/{book}/batches", Access::tenant_or_admin, apply_batch,
          {.tag = "ledger", .summary = "Apply up to 8,192 operations in one commit", .request = "LedgerBatch",
           .response = "LedgerBatchApplied"},
          Body::batch, {.show = show_batch}},

    Route{"GET", "/api/v1/ledger/books/{book}/records", Access::tenant, list_records,
          {.tag = "ledger", .summary = "Read the log, oldest first; wait for new records", .query = "after_seq limit wait",
           .response = "LedgerRecordPage"}},
    Route{"GET", "/api/v1/ledger/books/{book}/checkpoints", Access::tenant, list_checkpoints,
          {.tag = "ledger", .summary = "List signed checkpoints of the log, newest first", .query = "limit cursor",
           .response = "LedgerCheckpointPage"}},

    Route{"POST", "/api/v1/ledger/books/{book}/subscriptions", Access::tenant, add_subscription,
          {.tag = "ledger", .summary = "Send the book's events to a URL, a URL group or a queue",
           .request = "NewLedgerSubscription", .status = 201, .response = "LedgerSubscription"}},
    Route{"GET", "/api/v1/ledger/books/{book}/subscriptions", Access::tenant, list_subscriptions,
          {.tag = "ledger", .summary = "List subscriptions", .response = "LedgerSubscriptionList"}},
    Route{"DELETE", "/api/v1/ledger/books/{book}/subscriptions/{subscription}", Access::tenant, remove_subscription,
          {.tag = "ledger", .summary = "Remove a subscription", .response = "LedgerRemoved"}},
    Route{"POST", "/api/v1/ledger/books/{book}/monitors", Access::tenant, add_monitor,
          {.tag = "ledger", .summary = "Be told when a balance comes to be so", .request = "NewLedgerMonitor",
           .status = 201, .response = "LedgerMonitor"}},
    Route{"GET", "/api/v1/ledger/books/{book}/monitors", Access::tenant, list_monitors,
          {.tag = "ledger", .summary = "List monitors", .response = "LedgerMonitorList"}},
    Route{"DELETE", "/api/v1/ledger/books/{book}/monitors/{monitor}", Access::tenant, remove_monitor,
          {.tag = "ledger", .summary = "Remove a monitor", .response = "LedgerRemoved"}},

    Route{"GET", "/api/v1/ledger/books/{book}/accounts/{account}/statement", Access::tenant, statement,
          {.tag = "ledger", .summary = "Show what moved an account in a period, with its balance before, between and after",
           .query = "currency from to by limit cursor", .response = "LedgerStatement"}},
    Route{"GET", "/api/v1/ledger/books/{book}/balances", Access::tenant, aggregate,
          {.tag = "ledger", .summary = "Sum balances over the accounts below a path",
           .query = "prefix group_by as_of_effective as_of_recorded as_of_seq limit cursor", .response = "LedgerSums"}},
    Route{"GET", "/api/v1/ledger/books/{book}/trial_balance", Access::tenant, trial_balance,
          {.tag = "ledger", .summary = "Show debits and credits by currency and type of account",
           .query = "as_of_effective as_of_recorded as_of_seq", .response = "LedgerTrialBalance"}},
    Route{"GET", "/api/v1/ledger/books/{book}/reports/{report}", Access::tenant, report,
          {.tag = "ledger", .summary = "Show a report: balance_sheet, income_statement, activity, open_holds or integrity",
           .query = "as_of_effective as_of_recorded as_of_seq from to by prefix limit cursor", .response = "LedgerReport"}},
    Route{"GET", "/api/v1/ledger/books/{book}/export", Access::tenant, export_log,
          {.tag = "ledger", .summary = "Export records or entries as lines of JSON or CSV",
           .query = "kind format from_seq to_seq effective_from effective_to"}},
    Route{"GET", "/api/v1/ledger/books/{book}/proofs/{transaction}", Access::tenant, prove,
          {.tag = "ledger", .summary = "Prove that a transaction is in the log that a checkpoint signs",
           .response = "LedgerProof"}},
    Route{"POST", "/api/v1/ledger/books/{book}/verify", Access::tenant, verify,
          {.tag = "ledger", .summary = "Check the chain of records, and balances against the records",
           .request = "LedgerVerify", .response = "LedgerVerified"},
          Body::message, {.refused = "a verification changes nothing in the book: ask again without a key"}},
};
// clang-format on
static_assert(writes_take_keys(ledger_routes));

}  // namespace

RouteTable routes() { return {Surface::own, ledger_routes}; }

}  // namespace hk::api::ledger
