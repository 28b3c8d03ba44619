/// Bytes as they are on disk. A golden record is never changed: a new field gets a new record, and
/// the old ones must still decode to what they meant.
#include <gtest/gtest.h>

#include "store/codec.h"
#include "unit/store/samples.h"

namespace hk::store {
namespace HK_TEST_FILE {

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out.push_back(digits[static_cast<unsigned char>(c) >> 4U]);
    out.push_back(digits[static_cast<unsigned char>(c) & 15U]);
  }
  return out;
}

std::string from_hex(std::string_view hex) {
  const auto nibble = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<char>(nibble(hex[i]) * 16 + nibble(hex[i + 1])));
  }
  return out;
}

Write only_write(const core::Mutation& mutation) {
  std::vector<Write> out;
  encode(mutation, out);
  EXPECT_EQ(out.size(), 1U);
  return out.front();
}

constexpr std::string_view message_1 =
    "0988776655443322111081d095ffbc31180522066f72646572732a0a637573746f6d65722d393204666c"
    "6f773a03505554421c68747470733a2f2f6578616d706c652e636f6d2f686f6f6b3f783d314a17687474"
    "70733a2f2f6578616d706c652e636f6d3a34343352200a0c436f6e74656e742d5479706512106170706c"
    "69636174696f6e2f6a736f6e520e0a07582d42797465731203ff00015a097b2261223a0020317d60076a"
    "10086411000000000000f83f18a84620148001b0ea018801e0a499ffbc31920103726564920104626c75"
    "659a01093139322e302e322e37a20103642d31aa01280a100102030405060708090a0b0c0d0e0f101208"
    "08070605040302011803220876656e646f723d31b20104626f6479b201146865616465723a617574686f"
    "72697a6174696f6eb8010cc1016300000000000000";
constexpr std::string_view edited_of_message_2 = "880201";  // at the end of message_1
constexpr std::string_view state_1 =
    "0804100318f0f299ffbc3120012888eb99ffbc3130d8fa99ffbc313880a2a9acc03140014a4308041003"
    "18c8ac99ffbc3120bcb099ffbc3128f703320a737461747573203530333a100a0b52657472792d416674"
    "657212013342046e6f00774a080909090909090901";
constexpr std::string_view lane_key_1 =
    "000000056f726465727300016100ff620001000168747470733a2f2f6578616d706c652e636f6d3a3434"
    "3300010000018bcfe569f4000000000000004d";
constexpr std::string_view lane_entry_1 = "0890d395ffbc311002180120012a04666c6f77";
constexpr std::string_view lane_entry_2 =  // has the host
    "0890d395ffbc311002180120012a04666c6f77321768747470733a2f2f6578616d706c652e636f6d3a343433";
constexpr std::string_view events_1 = "0a0c4d03ffffffffffffffffff0112030104081a07000280d0acf30e";
constexpr std::string_view expiry_1 = "0a024d4e120708051203642d3112050806120100";
constexpr std::string_view counters_1 = "086410011828201e2814300a380540c8014807";
constexpr std::string_view pushing_queue_1 =  // its push is among what is the adapter's
    "08011880d095ffbc312080d095ffbc31426210e0d4032880e0e5a40130808040621b0a1648696b79616b"
    "7550757368506172616c6c656c69736d12013362250a0e48696b79616b755075736855726c1213687474"
    "70733a2f2f682e6578616d706c652f78620b0a06506f6c696379120170800104";
constexpr std::string_view pepper_1 = "0a0401620063";
constexpr std::string_view tenant_1 =
    "0a0764656661756c7412086469676573742d3112086469676573742d321a087365616c65642d61220873"
    "65616c65642d6228d209";
constexpr std::string_view tenant_2 =  // has an access key and the mark of development
    "0a0764656661756c7412086469676573742d3112086469676573742d321a087365616c65642d61220873"
    "65616c65642d6228d20932120a03484b3112087365616c65642d6318ae2c3801";
constexpr std::string_view meta_1 = "0801100818462080d095ffbc31";
constexpr std::string_view meta_2 = "0801100818c68080808080c0022080d095ffbc312805";

constexpr std::string_view queue_1 = "0804100118e80720d00f";
constexpr std::string_view queue_2 = "0804100118e80720d00f504d";  // is being told of a change
constexpr std::string_view delayed_key_1 = "000000050000018bcfe56be86f7264657273";
constexpr std::string_view delayed_1 = "0a0300e707120302ac02";
constexpr std::string_view move_task_key_1 = "0000000500000001000000000000000364656164";
constexpr std::string_view move_task_1 =
    "0a080a066f726465727318f40320042809300438e80740d00f484d521064657374696e6174696f6e5f676f6e65";
constexpr std::string_view cancel_task_key_1 = "00000005000000020000018bcfe56800";
constexpr std::string_view cancel_task_1 =
    "124e0a4a0a08687474703a2f2f610a08687474703a2f2f6212066f72646572731a0567726f757022037265642a04"
    "666c6f7732093139322e302e322e373a016142012f4a056461696c7950055806100a2001280430043880d095ffbc31"
    "484d";

TEST(CodecGolden, TasksAndWhatQueuesKeepAreWrittenAndReadAsEver) {
  EXPECT_EQ(to_hex(only_write(core::Put<core::Queue>{samples::queue()}).value), queue_1);
  EXPECT_EQ(to_hex(only_write(core::Put<core::Queue>{samples::retimed_queue()}).value), queue_2);
  EXPECT_EQ(Codec<core::Queue>::decode({core::TenantId{5}, "orders"}, from_hex(queue_1)),
            samples::queue());
  EXPECT_EQ(Codec<core::Queue>::decode({core::TenantId{5}, "orders"}, from_hex(queue_2)),
            samples::retimed_queue());
  const Write delayed = only_write(core::Put<core::DelayedSecond>{samples::delayed_second()});
  EXPECT_EQ(to_hex(delayed.key), delayed_key_1);
  EXPECT_EQ(to_hex(delayed.value), delayed_1);
  EXPECT_EQ(Codec<core::DelayedSecond>::decode(core::own_key(samples::delayed_second()),
                                               from_hex(delayed_1)),
            samples::delayed_second());
  const Write move = only_write(core::Put<core::Task>{samples::move_task()});
  EXPECT_EQ(to_hex(move.key), move_task_key_1);
  EXPECT_EQ(to_hex(move.value), move_task_1);
  EXPECT_EQ(Codec<core::Task>::decode(core::own_key(samples::move_task()), from_hex(move_task_1)),
            samples::move_task());
  const Write cancel = only_write(core::Put<core::Task>{samples::cancel_task()});
  EXPECT_EQ(to_hex(cancel.key), cancel_task_key_1);
  EXPECT_EQ(to_hex(cancel.value), cancel_task_1);
  EXPECT_EQ(
      Codec<core::Task>::decode(core::own_key(samples::cancel_task()), from_hex(cancel_task_1)),
      samples::cancel_task());
}

constexpr std::string_view url_group_1 =  // from before topics had subscriptions
    "0a1f0a036f6e65120968747470733a2f2f621a0d68747470733a2f2f623a3434330a171208687474703a2f2f"
    "611a0b687474703a2f2f613a383012140a0f557073746173682d5265747269657312013312130a1155707374"
    "6173682d466f72776172642d4118e80720d00f";
constexpr std::string_view sns_topic_1 =
    "0a3e0a036f6e65120968747470733a2f2f621a0d68747470733a2f2f623a3434332a05687474707330013801"
    "5a0708021a030a0107620673656372657468dc0b0a330a0374776f2201712a03737173420b7b2261223a5b22"
    "78225d7d4801520464656164720f0a08456e64706f696e74120361726e12100a0b446973706c61794e616d65"
    "12016418e80720d00f2a060a016b1201763201693803400148015207080122030a0131";
constexpr std::string_view meta_3 = "0801100818462080d095ffbc313007";  // has a last number

TEST(CodecGolden, TopicsAndTheirNumbersAreWrittenAndReadAsEver) {
  EXPECT_EQ(to_hex(only_write(core::Put<core::Topic>{samples::url_group()}).value), url_group_1);
  EXPECT_EQ(Codec<core::Topic>::decode({core::TenantId{5}, "group"}, from_hex(url_group_1)),
            samples::url_group());
  EXPECT_EQ(to_hex(only_write(core::Put<core::Topic>{samples::sns_topic()}).value), sns_topic_1);
  EXPECT_EQ(Codec<core::Topic>::decode({core::TenantId{5}, "!topic.fifo"}, from_hex(sns_topic_1)),
            samples::sns_topic());
  core::Meta numbered = samples::meta();
  numbered.last_number = 7;
  EXPECT_EQ(to_hex(only_write(core::Put<core::Meta>{numbered}).value), meta_3);
  EXPECT_EQ(Codec<core::Meta>::decode({}, from_hex(meta_3)), numbered);
}

// The first directories of format 3 have it among what is the adapter's.
constexpr std::string_view owned_subscription_1 =
    "0a3f0a036f6e6572150a0d41757468656e7469636174656412047472756572210a1941757468656e7469636174"
    "654f6e556e737562736372696265120474727565";
constexpr std::string_view owned_subscription_2 = "0a0a0a036f6e657801800101";

TEST(CodecGolden, WhoConfirmedAndWhoEndsASubscriptionIsReadInBothForms) {
  const core::Topic topic{
      .tenant = core::TenantId{5},
      .kind = core::TopicKind::sns,
      .name = "t",
      .subscriptions = {{.id = "one", .confirmed_by_owner = true, .owner_ends_it = true}}};
  core::Topic before = topic;
  before.subscriptions[0].confirmed_by_owner = before.subscriptions[0].owner_ends_it = false;
  before.subscriptions[0].extra = {{"Authenticated", "true"},
                                   {"AuthenticateOnUnsubscribe", "true"}};

  EXPECT_EQ(to_hex(only_write(core::Put<core::Topic>{topic}).value), owned_subscription_2);
  EXPECT_EQ(to_hex(only_write(core::Put<core::Topic>{before}).value), owned_subscription_1);
  for (const std::string_view form : {owned_subscription_1, owned_subscription_2}) {
    EXPECT_EQ(Codec<core::Topic>::decode({core::TenantId{5}, "!t"}, from_hex(form)), topic);
  }
}

constexpr std::string_view idempotency_key_1 =
    "0802120468617368181120022a026d6530e80738d00f40f40348840750d41658f01562027b7d";
constexpr std::string_view answered_key_1 =
    "0802120468617368200138d00f40f40348f40350c41362027b7d68c90172106170706c69636174696f6e"
    "2f6a736f6e7a062f7468657265820103223122880101";
constexpr std::string_view keys_of_expiry_2 = "1a0b08051207617069006b6579";

TEST(CodecGolden, AnswersToWritesAreWrittenAndReadAsEver) {
  const core::IdempotencyKey key = samples::answered_key();
  const core::KeyOf<core::IdempotencyKey> id{core::TenantId{5}, std::string("api\0key", 7)};
  EXPECT_EQ(to_hex(only_write(core::Put<core::IdempotencyKey>{key}).value), answered_key_1);
  EXPECT_EQ(Codec<core::IdempotencyKey>::decode(id, from_hex(answered_key_1)), key);
  core::Expiry expiry = samples::expiry();
  expiry.keys = {{core::TenantId{5}, std::string("api\0key", 7)}};
  const std::string written = std::string(expiry_1) + std::string(keys_of_expiry_2);
  EXPECT_EQ(to_hex(only_write(core::Put<core::Expiry>{expiry}).value), written);
  EXPECT_EQ(Codec<core::Expiry>::decode(core::own_key(expiry), from_hex(written)), expiry);
}

TEST(CodecGolden, IdempotencyKeysAndTimersAreWrittenAndReadAsEver) {
  const core::IdempotencyKey key = samples::idempotency_key();
  const core::KeyOf<core::IdempotencyKey> id{core::TenantId{5}, std::string("space\0key", 9)};
  EXPECT_EQ(to_hex(only_write(core::Put<core::IdempotencyKey>{key}).value), idempotency_key_1);
  EXPECT_EQ(Codec<core::IdempotencyKey>::decode(id, from_hex(idempotency_key_1)), key);
  const core::Timer timer{moment_from_ms(1000), core::Timer::Kind::idempotency_key,
                          core::TenantId{5}, "space"};
  const Write write = only_write(core::Put<core::Timer>{timer});
  EXPECT_EQ(to_hex(write.key), "00000000000003e800000001000000057370616365");
  EXPECT_EQ(write.value, "");
  EXPECT_EQ(Codec<core::Timer>::decode(core::own_key(timer), ""), timer);
  core::Meta meta = samples::meta();
  meta.last_token = 9;
  EXPECT_EQ(Codec<core::Meta>::decode({}, only_write(core::Put<core::Meta>{meta}).value), meta);
}

TEST(CodecGolden, WhatIsWrittenIsWhatWasAlwaysWritten) {
  const auto message = std::make_shared<const core::Message>(samples::message());
  const Write lane = only_write(core::Put<core::LaneRow>{{samples::lane(), samples::lane_entry()}});
  EXPECT_EQ(to_hex(only_write(core::Put<core::Message>{message}).value), message_1);
  core::Message edited = samples::message();
  edited.edited = true;
  EXPECT_EQ(
      to_hex(only_write(core::Put<core::Message>{std::make_shared<const core::Message>(edited)})
                 .value),
      std::string(message_1) + std::string(edited_of_message_2));
  EXPECT_EQ(
      to_hex(only_write(core::Put<core::MessageState>{{core::Seq{77}, samples::state()}}).value),
      state_1);
  EXPECT_EQ(to_hex(lane.key), lane_key_1);
  EXPECT_EQ(to_hex(lane.value), lane_entry_2);
  EXPECT_EQ(to_hex(only_write(core::Put<core::Events>{samples::events()}).value), events_1);
  EXPECT_EQ(to_hex(only_write(core::Put<core::Expiry>{samples::expiry()}).value), expiry_1);
  EXPECT_EQ(
      to_hex(only_write(core::Put<core::Counters>{{core::TenantId{5}, samples::counters()}}).value),
      counters_1);
  EXPECT_EQ(to_hex(put_pepper(std::string("\1b\0c", 4)).value), pepper_1);
  EXPECT_EQ(to_hex(only_write(core::Put<core::Tenant>{samples::tenant()}).value), tenant_1);
  EXPECT_EQ(to_hex(only_write(core::Put<core::Tenant>{samples::tenant_of_development()}).value),
            tenant_2);
  EXPECT_EQ(to_hex(only_write(core::Put<core::Meta>{samples::meta()}).value), meta_1);
  EXPECT_EQ(to_hex(only_write(core::Put<core::Meta>{samples::meta_of_origin()}).value), meta_2);
}

TEST(CodecGolden, WhatWasWrittenIsReadAsItWasMeant) {
  EXPECT_EQ(Codec<core::Message>::decode(core::Seq{77}, from_hex(message_1)), samples::message());
  core::Message edited = samples::message();
  edited.edited = true;
  EXPECT_EQ(Codec<core::Message>::decode(
                core::Seq{77}, from_hex(std::string(message_1) + std::string(edited_of_message_2))),
            edited);
  EXPECT_EQ(Codec<core::MessageState>::decode({}, from_hex(state_1)), samples::state());
  core::Message notification = samples::message();
  notification.notification = true;
  EXPECT_EQ(
      Codec<core::Message>::decode(core::Seq{77}, from_hex(std::string(message_1) + "900201")),
      notification);
  EXPECT_EQ(to_hex(only_write(core::Put<core::Message>{
                                  std::make_shared<const core::Message>(notification)})
                       .value),
            std::string(message_1) + "900201");
  core::LaneEntry without_host = samples::lane_entry();
  without_host.host.clear();
  EXPECT_EQ(
      Codec<core::LaneRow>::decode({samples::lane(), without_host.place}, from_hex(lane_entry_1)),
      (core::LaneRow{samples::lane(), without_host}));
  EXPECT_EQ(Codec<core::LaneRow>::decode({samples::lane(), samples::lane_entry().place},
                                         from_hex(lane_entry_2)),
            (core::LaneRow{samples::lane(), samples::lane_entry()}));
  const core::Events events = samples::events();
  EXPECT_EQ(
      Codec<core::Events>::decode({events.tenant, events.time, events.batch}, from_hex(events_1))
          ->events,
      events.events);
  EXPECT_EQ(Codec<core::Tenant>::decode(core::TenantId{5}, from_hex(tenant_1)), samples::tenant());
  EXPECT_EQ(Codec<core::Tenant>::decode(core::TenantId{5}, from_hex(tenant_2)),
            samples::tenant_of_development());
  EXPECT_EQ(Codec<core::Counters>::decode({}, from_hex(counters_1)), samples::counters());
  EXPECT_EQ(Codec<core::Meta>::decode({}, from_hex(meta_1)), samples::meta());
  EXPECT_EQ(Codec<core::Meta>::decode({}, from_hex(meta_2)), samples::meta_of_origin());
  EXPECT_EQ(decode_pepper(from_hex(pepper_1)), std::string("\1b\0c", 4));
}

TEST(Golden, AQueueThatPushedBeforeItsPushHadFieldsStillDoes) {
  const auto queue =
      Codec<core::Queue>::decode({core::TenantId{5}, "q"}, from_hex(pushing_queue_1));
  ASSERT_TRUE(queue.has_value() && queue->pull.has_value());
  EXPECT_EQ(queue->pull->push,
            (core::PushSettings{.url = "https://h.example/x", .parallelism = 3}));
  EXPECT_EQ(queue->pull->extra, (std::vector<core::Header>{{"Policy", "p"}}));
  EXPECT_EQ(queue->pull->version, 4U);

  // Written again it is in its fields, and means the same.
  const std::string again = only_write(core::Put<core::Queue>{*queue}).value;
  EXPECT_NE(again, from_hex(pushing_queue_1));
  EXPECT_EQ(Codec<core::Queue>::decode({core::TenantId{5}, "q"}, again), queue);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
