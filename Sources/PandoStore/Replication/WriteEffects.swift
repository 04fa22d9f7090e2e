package import PandoModels
package import PandoRecords

/// The effects of one write for other stores, with nodes and types by name.
///
/// They are recorded after merges, cascades and other code of models have run.
///
/// A write session fills the lists in the order of the write; later they are constant.
package struct WriteEffects: Sendable {
  /// A child to which a body refers by numbers of its original store.
  package struct Child: Sendable {
    package var reference: RecordReference
    package var identifier: String
    package var typeName: String

    package init(_ reference: RecordReference, identifier: String, typeName: String) {
      self.reference = reference
      self.identifier = identifier
      self.typeName = typeName
    }
  }

  /// Bytes as written by the original store, and the names of their children.
  package struct Body: Sendable {
    package var bytes: [UInt8]
    /// Sorted by number, without duplicates.
    package var children: [Child]

    package init(bytes: [UInt8], children: [Child]) {
      self.bytes = bytes
      self.children = children
    }
  }

  package struct Record: Sendable {
    package var typeName: String
    package var body: Body

    package init(typeName: String, body: Body) {
      self.typeName = typeName
      self.body = body
    }
  }

  /// A node that was stored, changed or touched, with the written records.
  package struct Node: Sendable {
    package var identifier: String
    /// For a new node, the distance of its number from the first one that the entry could assign.
    package var offset: UInt64?
    /// Whether a new node was asked for.
    package var isAskedFor: Bool
    package var records: [Record]

    package init(_ identifier: String, offset: UInt64?, isAskedFor: Bool, records: [Record]) {
      self.identifier = identifier
      self.offset = offset
      self.isAskedFor = isAskedFor
      self.records = records
    }
  }

  package enum Element: Sendable {
    case node(identifier: String, typeName: String)
    case value(Body)
    /// An element that a later step removes.
    case passing
  }

  /// The change of a list.
  package enum ListEdit: Sendable {
    /// Steps, and the elements that inserts and updates among them need, in order.
    case steps([CollectionChangeInformation], bringing: [Element])
    case whole([Element])
    case removed
  }

  package struct List: Sendable {
    package var cacheKey: String
    package var edit: ListEdit

    package init(_ cacheKey: String, _ edit: ListEdit) {
      self.cacheKey = cacheKey
      self.edit = edit
    }
  }

  /// An index that was added or dropped.
  package struct IndexEdit: Sendable {
    package var index: ModelIndex
    package var isAdded: Bool

    package init(_ index: ModelIndex, isAdded: Bool) {
      self.index = index
      self.isAdded = isAdded
    }
  }

  /// The deletion rules of a type, as text.
  package struct Rules: Sendable {
    package var typeName: String
    package var text: String

    package init(_ typeName: String, _ text: String) {
      self.typeName = typeName
      self.text = text
    }
  }

  /// A new schema version of a type.
  package struct Schema: Sendable, Equatable {
    package var typeName: String
    package var version: UInt32
    /// The previous version of a migration; `nil` if a program has written the type.
    package var migratedFrom: UInt32?

    package init(_ typeName: String, _ version: UInt32, migratedFrom: UInt32? = nil) {
      (self.typeName, self.version, self.migratedFrom) = (typeName, version, migratedFrom)
    }
  }

  /// Removed nodes, including those stored again since.
  package var removed: [String] = []
  package var nodes: [Node] = []
  package var lists: [List] = []
  /// Stored nodes that are now asked for.
  package var askedFor: [String] = []
  package var rules: [Rules] = []
  package var indexes: [IndexEdit] = []
  package var schemas: [Schema] = []
  /// Whether the write is a commit.
  package var isCommit = false
  /// Whether no other commit may come between its snapshot and itself.
  package var isWholeStore = false

  package init() {}

  /// Whether an edit of a list is followed by steps of the same list.
  func hasSteps(behind index: Int) -> Bool {
    guard index + 1 < lists.count, lists[index + 1].cacheKey == lists[index].cacheKey,
      case .steps = lists[index + 1].edit
    else { return false }
    return true
  }

  /// Whether other stores have nothing to do.
  package var isEmpty: Bool {
    !isCommit && askedFor.isEmpty && rules.isEmpty && indexes.isEmpty && schemas.isEmpty
  }
}
