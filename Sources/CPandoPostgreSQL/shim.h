#ifndef CPANDO_POSTGRESQL_SHIM_H
#define CPANDO_POSTGRESQL_SHIM_H
#include <libpq-fe.h>
#include <sys/eventfd.h>

/* What an error says: its code of five letters; NULL if it is not the server's. */
static inline const char *pando_pq_code(const PGresult *result)
{
  return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

/* Its weight, in English whatever the server speaks. */
static inline const char *pando_pq_severity(const PGresult *result)
{
  return PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
}

/* Its first sentence, which has no values of rows in it. */
static inline const char *pando_pq_words(const PGresult *result)
{
  return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}

/* Which constraint it is about. */
static inline const char *pando_pq_constraint(const PGresult *result)
{
  return PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);
}

static void pando_pq_ignore(void *argument, const char *text) { (void)argument; (void)text; }

/* Notices are not printed. */
static inline void pando_pq_quiet(PGconn *connection)
{
  PQsetNoticeProcessor(connection, pando_pq_ignore, (void *)0);
}

/* A descriptor that can be read once 8 bytes have been written to it. */
static inline int pando_pq_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
#endif
