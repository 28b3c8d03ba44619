#!/usr/bin/env bash
# The raw wire with curl and openssl: what a client and a receiver without any SDK see.
#
#     HIKYAKU_BINARY=build/release/hikyaku tests/conformance/qstash/wire.sh [base | rotate]
#
# Prints a line of JSON for each test, as ../lib/reporter.mjs does; exits 1 when one failed.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
part=${1:-base}
binary=${HIKYAKU_BINARY:?the server to test}
patience=${HIKYAKU_E2E_PATIENCE:-60}
token=wire-token-1
home=$(mktemp -d)
failures=0
receiver=
# The server must not take the variables of the tests for its options.
for name in $(compgen -e HIKYAKU_); do export -n "$name"; done
cleanup() {
  [ -s "$home/server" ] && kill -9 "$(cat "$home/server")" 2>/dev/null
  [ -n "$receiver" ] && kill "$receiver" 2>/dev/null
  rm -rf "$home"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

json_text() { printf '%s' "$1" | tr '\n\t' '  ' | sed 's/\\/\\\\/g; s/"/\\"/g' | tr -d '\000-\037'; }
# check NAME COMMAND...: the test passes when the command does; what it prints explains a failure.
check() {
  local name=$1 why passed=true
  shift
  why=$("$@" 2>&1) || passed=false
  [ $passed = true ] || failures=$((failures + 1))
  printf '{"passed":%s,"name":"%s","why":"%s"}\n' $passed "$(json_text "$name")" "$(json_text "$why")"
}
equal() { [ "$1" = "$2" ] || { echo "got '$1', expected '$2'"; return 1; }; }
# The value of a string or number of a flat JSON object.
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" <<<"$2"; }
# The value of a header in a recorded head; names in any case.
header() { sed -n "s/^$1: //Ip" "$2" | tr -d '\r'; }

# ---- The server and a receiver ----

mkdir "$home/got"
node "$here/wire_receiver.mjs" "$home/got" >"$home/ports" &
receiver=$!
wait_for() {  # COMMAND...: repeats it until it succeeds
  local deadline=$((SECONDS + patience))
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || { echo "waited in vain for: $*"; return 1; }
    sleep 0.02
  done
}
wait_for test -s "$home/ports" || exit 1
read -r to port <"$home/ports"
hook=http://127.0.0.1:$to
api=http://127.0.0.1:$port
start() {
  "$binary" serve --data "$home/data" --listen "127.0.0.1:$port" --token $token --allow-loopback-destinations >>"$home/log" 2>&1 &
  echo $! >"$home/server"
  wait_for curl -sf "$api/readyz" || { cat "$home/log" >&2; exit 1; }
}
# call METHOD PATH [CURL ARGUMENTS]: the answer's body; its status is then in $home/status, its headers in $home/answer.
call() {
  local method=$1 target=$2
  shift 2
  curl -s --path-as-is --globoff -X "$method" -H "Authorization: Bearer $token" -D "$home/answer" -o "$home/body" -w '%{http_code}' "$@" "$api$target" >"$home/status"
  cat "$home/body"
}
status() { cat "$home/status"; }
delivered() { wait_for test -e "$home/got/$1.${2:-1}.head" || { cat "$home/log" >&2; return 1; }; }

# ---- Signatures ----

unbase64url() {
  local text
  text=$(tr '_-' '/+' <<<"$1")
  while [ $((${#text} % 4)) -ne 0 ]; do text="$text="; done
  openssl base64 -d -A <<<"$text"
}
base64url() { openssl base64 -A | tr '/+' '_-' | tr -d '='; }
# signed NAME NUMBER KEY URL: the recorded request carries a JWT of this key for this URL and its body.
signed() {
  local file=$home/got/$1.$2 key=$3 url=$4 head payload mac claims rest
  IFS=. read -r head payload mac rest <<<"$(header Upstash-Signature "$file.head")"
  [ -n "$mac" ] && [ -z "$rest" ] || { echo "the signature has not three parts"; return 1; }
  equal "$mac" "$(printf '%s' "$head.$payload" | openssl dgst -sha256 -hmac "$key" -binary | base64url)" || return 1
  equal "$(unbase64url "$head")" '{"alg":"HS256","typ":"JWT"}' || return 1
  claims=$(unbase64url "$payload")
  equal "$(field iss "$claims")" Upstash || return 1
  equal "$(sed -n 's/.*"sub":"\([^"]*\)".*/\1/p' <<<"$claims")" "$url" || return 1
  equal "$(field exp "$claims")" $(($(field iat "$claims") + 300)) || return 1
  [ "$(field nbf "$claims")" -le "$(field iat "$claims")" ] || { echo "nbf is after iat"; return 1; }
  [ "$(field iat "$claims")" -le "$(date +%s)" ] || { echo "iat is in the future"; return 1; }
  case $(field jti "$claims") in jwt_?*) ;; *) echo "jti is $(field jti "$claims")"; return 1 ;; esac
  equal "$(field body "$claims" | tr -d '=')" "$(openssl dgst -sha256 -binary "$file.body" | base64url)"
}
not_signed() { ! signed "$@" >/dev/null; }

# ---- The tests ----

publish_with_headers() {
  local answer id head=$home/got/plain.1.head
  answer=$(call POST "/v2/publish/$hook/plain?a=1&b=%20" -H 'Content-Type: application/json' -H 'Upstash-Method: PUT' -H 'Upstash-Forward-X-Mine: yes' \
    -H 'Upstash-Retries: 1' -H 'Upstash-Label: wire' --data-binary '{"hello":"wörld"}')
  case $(status) in 200 | 201) ;; *) echo "$(status) $answer"; return 1 ;; esac
  equal "$(field url "$answer")" "$hook/plain?a=1&b=%20" || return 1
  id=$(field messageId "$answer")
  delivered plain || return 1
  equal "$(head -n 1 "$head")" 'PUT /plain?a=1&b=%20' || return 1
  equal "$(cat "$home/got/plain.1.body")" '{"hello":"wörld"}' || return 1
  equal "$(header Content-Type "$head")" application/json || return 1
  equal "$(header X-Mine "$head")" yes || return 1
  equal "$(header Upstash-Message-Id "$head")" "$id" || return 1
  equal "$(header Upstash-Retried "$head")" 0 || return 1
  equal "$(header Upstash-Caller-Ip "$head")" 127.0.0.1 || return 1
  equal "$(header User-Agent "$head")" Upstash-QStash || return 1
  equal "$(header Authorization "$head")" ''
}
signature_of_that() {
  local keys
  keys=$(call GET /v2/keys)
  signed plain 1 "$(field current "$keys")" "$hook/plain?a=1&b=%20" || return 1
  not_signed plain 1 "$(field next "$keys")" "$hook/plain?a=1&b=%20" || { echo "the next key verifies, too"; return 1; }
}
publish_a_file() {
  local keys
  openssl rand 300000 >"$home/random"
  call POST "/v2/publish/$hook/file" -H 'Content-Type: application/octet-stream' --data-binary "@$home/random" >/dev/null
  delivered file && cmp "$home/random" "$home/got/file.1.body" || return 1
  keys=$(call GET /v2/keys)
  signed file 1 "$(field current "$keys")" "$hook/file"
}
publish_without_body() {
  local keys
  call POST "/v2/publish/$hook/empty" >/dev/null
  delivered empty && equal "$(wc -c <"$home/got/empty.1.body")" 0 || return 1
  keys=$(call GET /v2/keys)
  signed empty 1 "$(field current "$keys")" "$hook/empty"
}
publish_chunked() {
  call POST "/v2/publish/$hook/chunked" -H 'Transfer-Encoding: chunked' --data-binary 'in pieces' >/dev/null
  delivered chunked && equal "$(cat "$home/got/chunked.1.body")" 'in pieces'
}
publish_expecting_100() {
  call POST "/v2/publish/$hook/expect" -H 'Expect: 100-continue' --data-binary 'after 100' >/dev/null
  delivered expect && equal "$(cat "$home/got/expect.1.body")" 'after 100'
}
retry_is_signed_anew() {
  local keys one two
  call POST "/v2/publish/$hook/again-500" -H 'Upstash-Retries: 1' -H 'Upstash-Retry-Delay: 1' -d x >/dev/null
  delivered again-500 2 || return 1
  keys=$(call GET /v2/keys)
  signed again-500 1 "$(field current "$keys")" "$hook/again-500" && signed again-500 2 "$(field current "$keys")" "$hook/again-500" || return 1
  equal "$(header Upstash-Retried "$home/got/again-500.2.head")" 1 || return 1
  equal "$(header Upstash-Message-Id "$home/got/again-500.1.head")" "$(header Upstash-Message-Id "$home/got/again-500.2.head")" || return 1
  one=$(header Upstash-Signature "$home/got/again-500.1.head")
  two=$(header Upstash-Signature "$home/got/again-500.2.head")
  [ "$one" != "$two" ] || { echo "both attempts carry the same signature"; return 1; }
}
token_in_query() {
  curl -s --path-as-is -o "$home/body" -X POST "$api/v2/publish/$hook/query?x=1&qstash_token=$token" -d x
  delivered query && equal "$(head -n 1 "$home/got/query.1.head")" 'POST /query?x=1'
}
deduplicated() {
  local first second
  first=$(call POST "/v2/publish/$hook/dedup" -H 'Upstash-Deduplication-Id: wire' -d x)
  second=$(call POST "/v2/publish/$hook/dedup" -H 'Upstash-Deduplication-Id: wire' -d x)
  equal "$(status)" 202 && equal "$(field messageId "$second")" "$(field messageId "$first")" && equal "$(field deduplicated "$second")" true
}
lists_without_cursor() {
  equal "$(call GET '/v2/dlq?label=nobody')" '{"messages":[]}' && equal "$(call GET '/v2/events?label=nobody')" '{"events":[]}'
}
# refuses STATUS METHOD PATH [CURL ARGUMENTS]: with a text in the documented form and a length.
refuses() {
  local expected=$1 answer
  shift
  answer=$(call "$@")
  equal "$(status)" "$expected" || { echo "$answer"; return 1; }
  grep -q '^{"error":"..*"}$' <<<"$answer" || { echo "the body is $answer"; return 1; }
  equal "$(header Content-Type "$home/answer")" application/json || return 1
  equal "$(header Content-Length "$home/answer")" "$(wc -c <"$home/body")"
}
refuses_without_token() {
  equal "$(curl -s -o /dev/null -w '%{http_code}' "$api/v2/keys")" 401 || return 1
  equal "$(curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer wrong' "$api/v2/keys")" 401 || return 1
  equal "$(curl -s -o /dev/null -w '%{http_code}' -X POST "$api/v2/publish/$hook/nobody" -d x)" 401
}
nothing_was_delivered_to() { [ ! -e "$home/got/$1.1.head" ] || { echo "$1 got a request"; return 1; }; }

before_and_after_rotation() {
  local before after
  before=$(call GET /v2/keys)
  call POST "/v2/publish/$hook/before" -d x >/dev/null
  delivered before && signed before 1 "$(field current "$before")" "$hook/before" || return 1
  after=$(call POST /v2/keys/rotate)
  equal "$(status)" 200 || { echo "$after"; return 1; }
  equal "$(field current "$after")" "$(field next "$before")" || return 1
  [ "$(field next "$after")" != "$(field next "$before")" ] || { echo "the next key stayed"; return 1; }
  equal "$(call GET /v2/keys)" "$after" || return 1
  call POST "/v2/publish/$hook/after" -d x >/dev/null
  # A receiver that holds the old pair verifies with its next key.
  delivered after && signed after 1 "$(field next "$before")" "$hook/after" || return 1
  not_signed after 1 "$(field current "$before")" "$hook/after" || { echo "the old key still signs"; return 1; }
}
# Its last thread has closed its files by then: nothing holds the data directory any more.
ended() {  # PID
  [ ! -e "/proc/$1" ] || { [ "$(ls "/proc/$1/task" | wc -l)" = 1 ] && grep -q '^State:.Z' "/proc/$1/status"; }
}
rotation_survives_kill() {
  local keys server
  keys=$(call POST /v2/keys/rotate)
  server=$(cat "$home/server")
  kill -9 "$server"
  wait_for ended "$server" || return 1
  start
  equal "$(call GET /v2/keys)" "$keys" || return 1
  call POST "/v2/publish/$hook/killed" -d x >/dev/null
  delivered killed && signed killed 1 "$(field current "$keys")" "$hook/killed"
}

start
case $part in
  base)
    check "a publish arrives with its method, query, headers and body" publish_with_headers
    check "openssl verifies the signature with the current key, and not with the next" signature_of_that
    check "a file arrives byte for byte and is signed" publish_a_file
    check "a message without a body is signed" publish_without_body
    check "a chunked request is understood" publish_chunked
    check "Expect: 100-continue is understood" publish_expecting_100
    check "a retry has the same id and a new signature" retry_is_signed_anew
    check "a token in the query works and goes no further" token_in_query
    check "a duplicate is 202 with the first id" deduplicated
    check "empty lists are arrays without a cursor" lists_without_cursor
    check "no token and a wrong one are 401" refuses_without_token
    check "no scheme is 400" refuses 400 POST "/v2/publish/127.0.0.1:$to/nobody" -d x
    check "no destination is 400" refuses 400 POST /v2/publish/ -d x
    check "an unknown group is 404" refuses 404 POST /v2/publish/no-such-group -d x
    check "a bad delay is 400" refuses 400 POST "/v2/publish/$hook/nobody" -H 'Upstash-Delay: soon' -d x
    check "a bad method is 400" refuses 400 POST "/v2/publish/$hook/nobody" -H 'Upstash-Method: BREW' -d x
    check "bad retries are 400" refuses 400 POST "/v2/publish/$hook/nobody" -H 'Upstash-Retries: -1' -d x
    check "a delay in a queue is 400" refuses 400 POST "/v2/enqueue/q/$hook/nobody" -H 'Upstash-Delay: 1s' -d x
    check "an unknown message is 404" refuses 404 GET /v2/messages/msg_nobody
    check "an unknown parameter is 400" refuses 400 GET '/v2/dlq?nonsense=1'
    check "an unknown path is 404" refuses 404 GET /v2/nothing
    check "another method is 405" refuses 405 PUT /v2/dlq
    check "what was refused was not delivered" nothing_was_delivered_to nobody
    ;;
  rotate)
    check "after a rotation the old pair still verifies, with its next key" before_and_after_rotation
    check "a rotation survives kill -9" rotation_survives_kill
    check "a rotation needs POST" refuses 405 GET /v2/keys/rotate
    ;;
  *)
    echo "wire.sh: no part '$part'" >&2
    exit 2
    ;;
esac
[ $failures -eq 0 ]
