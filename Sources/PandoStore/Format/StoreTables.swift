import PandoLMDB

/// The tables of a store; docs/format.md draws their keys and values.
struct StoreTables: Sendable {
  /// Single rows: `state`, and small named values of the user under `property:` names.
  let meta: RawTable
  /// Identifier → node number.
  let identifiers: RawTable
  /// Type name → ``TypeRow``.
  let types: RawTable
  /// Node number → ``NodeRow``, which holds the node's records.
  let nodes: RawTable
  /// Type number and block → ``TypeBlock``.
  let nodesByType: RawTable
  /// ``ParentKey`` → kinds of the edge.
  let parents: RawTable
  /// Cache key → collection number.
  let collections: RawTable
  /// Collection number → cache key.
  let collectionNames: RawTable
  /// Collection number and block → rows of the ordered list.
  let elements: RawTable
  /// Commit number → encoded change set.
  let changes: RawTable
  /// Type number and field name → index number; ``StoredIndex`` draws them.
  let indexes: RawTable
  /// Index number, value and node number → nothing.
  let indexRows: RawTable

  /// The names of all tables, for those who must not touch them.
  static let names = [
    "meta", "identifiers", "types", "nodes", "nodesByType", "parents", "collections",
    "collectionNames", "elements", "changes", "indexes", "indexRows",
  ]

  /// Opens the tables, and creates them where `create` is true.
  init(_ environment: Environment, create: Bool) throws {
    func table(_ name: String) throws -> RawTable {
      try environment.rawTable(name, create: create)
    }
    meta = try table("meta")
    identifiers = try table("identifiers")
    types = try table("types")
    nodes = try table("nodes")
    nodesByType = try table("nodesByType")
    parents = try table("parents")
    collections = try table("collections")
    collectionNames = try table("collectionNames")
    elements = try table("elements")
    changes = try table("changes")
    indexes = try table("indexes")
    indexRows = try table("indexRows")
  }
}
