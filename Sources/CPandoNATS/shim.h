#ifndef CPANDO_NATS_SHIM_H
#define CPANDO_NATS_SHIM_H
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The structs of the library's calls are filled here, where texts live as long as the call. */

/* What a publish has come to. */
struct pando_nats_ack {
  uint64_t sequence;
  bool is_duplicate;
  bool is_other_stream;
  int code;
};

/* Publishes to a stream. expects: 0 nothing, 1 that the last sequence is `last`, 2 that the subject has none. */
static inline natsStatus pando_nats_publish(
  jsCtx *context, const char *stream, const char *subject, const void *bytes, int count, const char *name,
  int expects, uint64_t last, int64_t milliseconds, struct pando_nats_ack *ack)
{
  jsPubOptions options;
  jsErrCode code = (jsErrCode)0;
  jsPubAck *answer = NULL;
  jsPubOptions_Init(&options);
  options.MaxWait = milliseconds;
  options.MsgId = name;
  options.ExpectStream = stream;
  if (expects == 1) options.ExpectLastSeq = last;
  if (expects == 2) options.ExpectNoMessage = true;
  memset(ack, 0, sizeof(*ack));
  natsStatus status = js_Publish(&answer, context, subject, bytes, count, &options, &code);
  ack->code = (int)code;
  if (status == NATS_OK && answer) {
    ack->sequence = answer->Sequence;
    ack->is_duplicate = answer->Duplicate;
    ack->is_other_stream = !answer->Stream || strcmp(answer->Stream, stream) != 0;
  }
  jsPubAck_Destroy(answer);
  return status;
}

/* A stream as it is. */
struct pando_nats_stream {
  uint64_t first;
  uint64_t last;
  uint64_t count;
  uint64_t bytes;
  /* What is kept at most; 0 or less for any number. */
  int64_t bytes_maximum;
  int64_t age;
  int64_t message_size;
  int64_t replicas;
  bool is_kept_on_disk;
  bool discards_old;
  bool is_limited_only;
  bool has_subject;
  bool is_changed;
};

static inline void pando_nats_read(
  const jsStreamInfo *info, const char *subject, struct pando_nats_stream *stream)
{
  memset(stream, 0, sizeof(*stream));
  if (!info || !info->Config) return;
  stream->first = info->State.FirstSeq;
  stream->last = info->State.LastSeq;
  stream->count = info->State.Msgs;
  stream->bytes = info->State.Bytes;
  stream->bytes_maximum = info->Config->MaxBytes;
  stream->age = info->Config->MaxAge;
  stream->message_size = info->Config->MaxMsgSize;
  stream->replicas = info->Config->Replicas;
  stream->is_kept_on_disk = info->Config->Storage == js_FileStorage;
  stream->discards_old = info->Config->Discard == js_DiscardOld;
  stream->is_limited_only = info->Config->Retention == js_LimitsPolicy;
  stream->is_changed = info->Config->Mirror || info->Config->SourcesLen > 0 || info->Config->NoAck;
  for (int index = 0; index < info->Config->SubjectsLen; index++)
    if (strcmp(info->Config->Subjects[index], subject) == 0) stream->has_subject = true;
}

static inline natsStatus pando_nats_look(
  jsCtx *context, const char *name, const char *subject, int64_t milliseconds, int *code,
  struct pando_nats_stream *stream)
{
  jsOptions options;
  jsErrCode error = (jsErrCode)0;
  jsStreamInfo *info = NULL;
  jsOptions_Init(&options);
  options.Wait = milliseconds;
  natsStatus status = js_GetStreamInfo(&info, context, name, &options, &error);
  *code = (int)error;
  pando_nats_read(status == NATS_OK ? info : NULL, subject, stream);
  jsStreamInfo_Destroy(info);
  return status;
}

/* Makes a stream. Times in nanoseconds; a bound of 0 or less is none. */
static inline natsStatus pando_nats_make(
  jsCtx *context, const char *name, const char *subject, int64_t replicas, int64_t age, int64_t bytes,
  int32_t message_size, int64_t duplicates, bool allows_direct, int64_t milliseconds, int *code)
{
  jsStreamConfig stream;
  jsOptions options;
  jsErrCode error = (jsErrCode)0;
  const char *subjects[1] = {subject};
  jsStreamConfig_Init(&stream);
  stream.Name = name;
  stream.Subjects = subjects;
  stream.SubjectsLen = 1;
  stream.Retention = js_LimitsPolicy;
  stream.Discard = js_DiscardOld;
  stream.Storage = js_FileStorage;
  stream.Replicas = replicas;
  stream.MaxAge = age;
  stream.MaxBytes = bytes > 0 ? bytes : -1;
  stream.MaxMsgSize = message_size;
  stream.Duplicates = duplicates;
  stream.AllowDirect = allows_direct;
  jsOptions_Init(&options);
  options.Wait = milliseconds;
  natsStatus status = js_AddStream(NULL, context, &stream, &options, &error);
  *code = (int)error;
  return status;
}

/* Removes what lies before a sequence. */
static inline natsStatus pando_nats_purge(
  jsCtx *context, const char *name, uint64_t sequence, int64_t milliseconds, int *code)
{
  jsOptions options;
  jsErrCode error = (jsErrCode)0;
  jsOptions_Init(&options);
  options.Wait = milliseconds;
  options.Stream.Purge.Sequence = sequence;
  natsStatus status = js_PurgeStream(context, name, &options, &error);
  *code = (int)error;
  return status;
}

/* Has a stream's messages pushed to an inbox, from a sequence on. */
static inline natsStatus pando_nats_push(
  jsCtx *context, const char *stream, const char *inbox, uint64_t first, int64_t heartbeat,
  int64_t threshold, int64_t milliseconds, char *name, int size, int *code)
{
  jsConsumerConfig consumer;
  jsOptions options;
  jsErrCode error = (jsErrCode)0;
  jsConsumerInfo *info = NULL;
  jsConsumerConfig_Init(&consumer);
  consumer.DeliverSubject = inbox;
  consumer.DeliverPolicy = js_DeliverByStartSequence;
  consumer.OptStartSeq = first;
  consumer.AckPolicy = js_AckNone;
  consumer.MaxDeliver = 1;
  consumer.FlowControl = true;
  consumer.Heartbeat = heartbeat;
  consumer.InactiveThreshold = threshold;
  consumer.MemoryStorage = true;
  consumer.Replicas = 1;
  jsOptions_Init(&options);
  options.Wait = milliseconds;
  natsStatus status = js_AddConsumer(&info, context, stream, &consumer, &options, &error);
  *code = (int)error;
  snprintf(name, (size_t)size, "%s", status == NATS_OK && info && info->Name ? info->Name : "");
  jsConsumerInfo_Destroy(info);
  return status;
}

/* Makes a consumer that nobody uses, which says when it was made: the server's time. */
static inline natsStatus pando_nats_time(
  jsCtx *context, const char *stream, int64_t milliseconds, char *name, int size, int64_t *time, int *code)
{
  jsConsumerConfig consumer;
  jsOptions options;
  jsErrCode error = (jsErrCode)0;
  jsConsumerInfo *info = NULL;
  jsConsumerConfig_Init(&consumer);
  consumer.DeliverPolicy = js_DeliverNew;
  consumer.AckPolicy = js_AckExplicit;
  consumer.InactiveThreshold = 1000000000;
  consumer.MemoryStorage = true;
  consumer.Replicas = 1;
  jsOptions_Init(&options);
  options.Wait = milliseconds;
  natsStatus status = js_AddConsumer(&info, context, stream, &consumer, &options, &error);
  *code = (int)error;
  *time = status == NATS_OK && info ? info->Created : 0;
  snprintf(name, (size_t)size, "%s", status == NATS_OK && info && info->Name ? info->Name : "");
  jsConsumerInfo_Destroy(info);
  return status;
}

/* Reads one message of a stream. */
static inline natsStatus pando_nats_get(
  jsCtx *context, const char *stream, uint64_t sequence, int64_t milliseconds, natsMsg **message, int *code)
{
  jsOptions options;
  jsErrCode error = (jsErrCode)0;
  jsOptions_Init(&options);
  options.Wait = milliseconds;
  natsStatus status = js_GetMsg(message, context, stream, sequence, &options, &error);
  *code = (int)error;
  return status;
}

/* Reads the last message of a subject. */
static inline natsStatus pando_nats_last(
  jsCtx *context, const char *stream, const char *subject, int64_t milliseconds, natsMsg **message, int *code)
{
  jsOptions options;
  jsErrCode error = (jsErrCode)0;
  jsOptions_Init(&options);
  options.Wait = milliseconds;
  natsStatus status = js_GetLastMsg(message, context, stream, subject, &options, &error);
  *code = (int)error;
  return status;
}

/* Reads the first message of a subject from a sequence on; the stream has to allow it. */
static inline natsStatus pando_nats_next(
  jsCtx *context, const char *stream, const char *subject, uint64_t sequence, int64_t milliseconds,
  natsMsg **message)
{
  jsOptions options;
  jsDirectGetMsgOptions next;
  jsOptions_Init(&options);
  options.Wait = milliseconds;
  jsDirectGetMsgOptions_Init(&next);
  next.Sequence = sequence;
  next.NextBySubject = subject;
  return js_DirectGetMsg(message, context, stream, &options, &next);
}

/* Where a pushed message stands, from its reply subject:
   $JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.<consumer's sequence>.<time>.<pending>, or with a domain and
   an account behind ACK and more at the end. Returns whether it is one. */
static inline bool pando_nats_place(const char *reply, uint64_t *sequence, uint64_t *number)
{
  const char *words[16];
  int count = 0;
  if (!reply || strncmp(reply, "$JS.ACK.", 8) != 0) return false;
  for (const char *next = reply + 8; count < 16; next++) {
    words[count++] = next;
    next = strchr(next, '.');
    if (!next) break;
  }
  int place = count == 7 ? 3 : count >= 9 ? 5 : -1;
  if (place < 0) return false;
  *sequence = strtoull(words[place], NULL, 10);
  *number = strtoull(words[place + 1], NULL, 10);
  return *sequence > 0 && *number > 0;
}
#endif
