#include "sqlite_api.h"

#ifdef HAS_SQLITE

#include "sqlite_models.h"

const char sqlite_models_schema[] =
    "CREATE TABLE IF NOT EXISTS person ("
    "  id INTEGER PRIMARY KEY,"
    "  identifier TEXT NOT NULL UNIQUE,"
    "  name TEXT NOT NULL, email TEXT NOT NULL, about TEXT NOT NULL,"
    "  age INTEGER NOT NULL, followerCount INTEGER NOT NULL,"
    "  score REAL NOT NULL, isVerified INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS author ("
    "  id INTEGER PRIMARY KEY,"
    "  identifier TEXT NOT NULL UNIQUE,"
    "  name TEXT NOT NULL, followerCount INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS image ("
    "  id INTEGER PRIMARY KEY,"
    "  identifier TEXT NOT NULL UNIQUE,"
    "  url TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS message ("
    "  id INTEGER PRIMARY KEY,"
    "  identifier TEXT NOT NULL UNIQUE,"
    "  text TEXT NOT NULL, sentAt INTEGER NOT NULL, likeCount INTEGER NOT NULL,"
    "  author INTEGER NOT NULL REFERENCES author(id) ON DELETE CASCADE,"
    "  image INTEGER REFERENCES image(id) ON DELETE SET NULL);"
    "CREATE INDEX IF NOT EXISTS messageByAuthor ON message(author);"
    "CREATE INDEX IF NOT EXISTS messageByImage ON message(image);"
    "CREATE TABLE IF NOT EXISTS thread ("
    "  id INTEGER PRIMARY KEY,"
    "  identifier TEXT NOT NULL UNIQUE,"
    "  title TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS threadMessage ("
    "  thread INTEGER NOT NULL REFERENCES thread(id) ON DELETE CASCADE,"
    "  position INTEGER NOT NULL,"
    "  message INTEGER NOT NULL REFERENCES message(id) ON DELETE CASCADE,"
    "  PRIMARY KEY (thread, position)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS threadByMessage ON threadMessage(message);"
    "CREATE TABLE IF NOT EXISTS item ("
    "  id INTEGER PRIMARY KEY,"
    "  identifier TEXT NOT NULL UNIQUE,"
    "  title TEXT NOT NULL, number INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS listItem ("
    "  position INTEGER PRIMARY KEY,"
    "  item INTEGER NOT NULL REFERENCES item(id) ON DELETE CASCADE);"
    "CREATE INDEX IF NOT EXISTS listByItem ON listItem(item);";

#define MESSAGE_COLUMNS                                                              \
  "m.identifier, m.text, m.sentAt, m.likeCount, a.identifier, a.name, a.followerCount," \
  " m.image IS NOT NULL, i.identifier, i.url, i.width, i.height"
#define MESSAGE_JOIN "JOIN author a ON a.id = m.author LEFT JOIN image i ON i.id = m.image"

const char *const sqlite_models_sql[STATEMENT_COUNT] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [BEGIN_READING] = "BEGIN",
    [COMMIT] = "COMMIT",
    [INSERT_PERSON] =
        "INSERT INTO person(identifier, name, email, about, age, followerCount, score, isVerified)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [INSERT_AUTHOR] = "INSERT INTO author(identifier, name, followerCount) VALUES (?1, ?2, ?3)",
    [INSERT_IMAGE] = "INSERT INTO image(identifier, url, width, height) VALUES (?1, ?2, ?3, ?4)",
    [INSERT_MESSAGE] =
        "INSERT INTO message(identifier, text, sentAt, likeCount, author, image)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [FIND_AUTHOR] = "SELECT id, name, followerCount FROM author WHERE identifier = ?1",
    [FIND_IMAGE] = "SELECT id, url, width, height FROM image WHERE identifier = ?1",
    [FIND_MESSAGE] =
        "SELECT id, text, sentAt, likeCount, author, image FROM message WHERE identifier = ?1",
    [UPDATE_AUTHOR] = "UPDATE author SET name = ?2, followerCount = ?3 WHERE id = ?1",
    [UPDATE_IMAGE] = "UPDATE image SET url = ?2, width = ?3, height = ?4 WHERE id = ?1",
    [UPDATE_MESSAGE] =
        "UPDATE message SET text = ?2, sentAt = ?3, likeCount = ?4, author = ?5, image = ?6"
        " WHERE id = ?1",
    [UPDATE_FOLLOWERS] = "UPDATE author SET followerCount = ?2 WHERE identifier = ?1",
    [INSERT_THREAD] = "INSERT INTO thread(identifier, title) VALUES (?1, ?2)",
    [INSERT_THREAD_MESSAGE] =
        "INSERT INTO threadMessage(thread, position, message)"
        " VALUES (?1, ?2, (SELECT id FROM message WHERE identifier = ?3))",
    [GET_PERSON] =
        "SELECT identifier, name, email, about, age, followerCount, score, isVerified"
        " FROM person WHERE identifier = ?1",
    [GET_PERSON_CARD] = "SELECT identifier, name, isVerified FROM person WHERE identifier = ?1",
    [GET_PERSON_CONTACT] = "SELECT identifier, name, email FROM person WHERE identifier = ?1",
    [GET_TREE] = "SELECT " MESSAGE_COLUMNS " FROM message m " MESSAGE_JOIN
                 " WHERE m.identifier = ?1",
    [GET_THREAD] = "SELECT id, title FROM thread WHERE identifier = ?1",
    [GET_THREAD_MESSAGES] =
        "SELECT " MESSAGE_COLUMNS
        " FROM threadMessage t JOIN message m ON m.id = t.message " MESSAGE_JOIN
        " WHERE t.thread = ?1 ORDER BY t.position",
    [DELETE_AUTHOR] = "DELETE FROM author WHERE identifier = ?1",
    [DELETE_IMAGE] = "DELETE FROM image WHERE identifier = ?1",
    [DELETE_ITEM] = "DELETE FROM item WHERE identifier = ?1",
    [COUNT_MESSAGES] = "SELECT count(*), count(image) FROM message",
    [LIST_PEOPLE] = "SELECT identifier FROM person ORDER BY identifier",
    [INSERT_ITEM] = "INSERT INTO item(identifier, title, number) VALUES (?1, ?2, ?3)",
    [INSERT_POSITION] = "INSERT INTO listItem(position, item) VALUES (?1, ?2)",
    [FIRST_POSITION] = "SELECT min(position) FROM listItem",
    [LAST_POSITION] = "SELECT max(position) FROM listItem",
    [NTH_POSITION] = "SELECT position FROM listItem ORDER BY position LIMIT 2 OFFSET ?1",
    [DELETE_POSITION] = "DELETE FROM listItem WHERE position = ?1",
    // In two steps, so that no position is taken twice meanwhile.
    [RENUMBER_OUT] =
        "UPDATE listItem SET position = -(SELECT rank FROM"
        " (SELECT position AS old, row_number() OVER (ORDER BY position) AS rank FROM listItem)"
        " WHERE old = listItem.position)",
    [RENUMBER_IN] = "UPDATE listItem SET position = -position * 4294967296",
    [GET_PAGE] =
        "SELECT i.identifier, i.title, i.number"
        " FROM (SELECT position, item FROM listItem ORDER BY position LIMIT ?2 OFFSET ?1) l"
        " JOIN item i ON i.id = l.item ORDER BY l.position",
};

#endif
