import Foundation

/// The items in SQLite.
final class SQLiteItems {
  let database: SQLiteDatabase
  private let insertItem: SQLiteStatement
  private let insertPerson: SQLiteStatement
  private let insertTag: SQLiteStatement
  private let insertPart: SQLiteStatement
  private let insertHelper: SQLiteStatement
  private let insertWords: SQLiteStatement
  private let deletes: [SQLiteStatement]
  private let deletePerson: SQLiteStatement
  private let insertRemark: SQLiteStatement
  private let insertMention: SQLiteStatement
  private let deleteRemark: [SQLiteStatement]
  private let deleteWords: SQLiteStatement
  private var stored = World()
  private var hasWords = false

  private static let schema = """
    CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, name_folded TEXT, score INTEGER);
    CREATE TABLE items (
      id INTEGER PRIMARY KEY, place INTEGER, title TEXT, title_folded TEXT, title_composed TEXT,
      note TEXT, note_folded TEXT, rank INTEGER, level INTEGER, price INTEGER, rate INTEGER,
      weight REAL, due REAL, made REAL, mark TEXT, open INTEGER, owner INTEGER);
    CREATE TABLE tags (item INTEGER, tag TEXT);
    CREATE INDEX tags_item ON tags (item);
    CREATE TABLE parts (item INTEGER, kind TEXT, number INTEGER, price INTEGER);
    CREATE INDEX parts_item ON parts (item);
    CREATE TABLE helpers (item INTEGER, person INTEGER);
    CREATE INDEX helpers_item ON helpers (item);
    CREATE TABLE remarks (id INTEGER PRIMARY KEY, item INTEGER, likes INTEGER, answers INTEGER);
    CREATE TABLE mentions (remark INTEGER, item INTEGER);
    CREATE VIRTUAL TABLE words USING fts5(title, note, tokenize = 'unicode61 remove_diacritics 2');
    """

  init() throws {
    let database = try SQLiteDatabase()
    self.database = database
    try database.run(Self.schema)
    func insert(_ table: String, _ count: Int) throws -> SQLiteStatement {
      let places = Array(repeating: "?", count: count).joined(separator: ", ")
      return try database.prepare("INSERT INTO \(table) VALUES (\(places))")
    }
    insertItem = try insert("items", 17)
    insertPerson = try insert("people", 4)
    insertTag = try insert("tags", 2)
    insertPart = try insert("parts", 4)
    insertHelper = try insert("helpers", 2)
    insertRemark = try insert("remarks", 4)
    insertMention = try insert("mentions", 2)
    deleteRemark = try ["remarks WHERE id", "mentions WHERE remark"]
      .map { try database.prepare("DELETE FROM \($0) = ?") }
    insertWords = try database.prepare("INSERT INTO words (rowid, title, note) VALUES (?, ?, ?)")
    deletes = try ["items WHERE id", "tags WHERE item", "parts WHERE item", "helpers WHERE item"]
      .map { try database.prepare("DELETE FROM \($0) = ?") }
    deletePerson = try database.prepare("DELETE FROM people WHERE id = ?")
    deleteWords = try database.prepare("DELETE FROM words WHERE rowid = ?")
  }

  /// Empties the tables.
  func begin(withWords: Bool) throws {
    try database.run(
      "DELETE FROM items; DELETE FROM people; DELETE FROM tags; DELETE FROM parts;"
        + "DELETE FROM helpers; DELETE FROM remarks; DELETE FROM mentions;"
        + (hasWords ? "DELETE FROM words" : ""))
    stored = World()
    hasWords = withWords
  }

  /// Stores what a world has.
  func store(_ world: World) throws {
    try database.run("BEGIN")
    let former = Dictionary(uniqueKeysWithValues: stored.rows.map { ($0.draft.id, $0) })
    let new = Dictionary(uniqueKeysWithValues: world.rows.map { ($0.draft.id, $0) })
    for (id, row) in former where new[id] != row {
      for statement in deletes { try statement.run([.int(id)]) }
      if hasWords { try deleteWords.run([.int(id)]) }
    }
    for (id, row) in new where former[id] != row { try insert(row) }
    for (id, person) in stored.people where world.people[id] != person {
      try deletePerson.run([.int(id)])
    }
    for (id, person) in world.people where stored.people[id] != person {
      try insertPerson.run([
        .int(id), .text(person.name), .text(Texts.folded(person.name)), person.score.compared,
      ])
    }
    for id in stored.remarks.keys where world.remarks[id] != stored.remarks[id] {
      for statement in deleteRemark { try statement.run([.int(id)]) }
    }
    for (id, remark) in world.remarks where stored.remarks[id] != remark { try insert(remark) }
    try database.run("COMMIT")
    stored = world
  }

  private func insert(_ remark: Remark) throws {
    let id = Compared.int(remark.id)
    try insertRemark.run([
      id, (remark.item?.number).compared, .int(remark.likes), (remark.answers?.number).compared,
    ])
    for item in remark.mentions { try insertMention.run([id, item.number.compared]) }
  }

  private func insert(_ row: World.Row) throws {
    let draft = row.draft
    let id = Compared.int(draft.id)
    try insertItem.run([
      id, .int(row.place), .text(draft.title), .text(Texts.folded(draft.title)),
      .text(Texts.composed(draft.title)), draft.note.compared,
      draft.note.map(Texts.folded).compared, .int(draft.rank), draft.level.compared,
      .decimal(draft.price), draft.rate.compared, .double(draft.weight), draft.due.compared,
      .date(draft.made), draft.mark.compared, .bool(draft.isOpen), draft.owner.compared,
    ])
    for tag in draft.tags { try insertTag.run([id, .text(tag)]) }
    for part in draft.parts {
      try insertPart.run([id, .text(part.kind), .int(part.number), .decimal(part.price)])
    }
    for helper in draft.helpers { try insertHelper.run([id, .int(helper)]) }
    if hasWords { try insertWords.run([id, .text(draft.title), draft.note.compared]) }
  }
}
