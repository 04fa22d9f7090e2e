package import PandoModels

/// What one write has done, as far as other stores are to do the same: a value that knows nodes and types by
/// name.
///
/// Merges, cascades and other code of models have run by then: this is what came of them.
package struct WriteEffects: Sendable {
  /// A child that a body refers to by numbers of the store in which it was written.
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

  /// Bytes as they lie in the store in which they were written, and the names of their children.
  package struct Body: Sendable {
    package var bytes: [UInt8]
    /// In the order of their numbers, each once.
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

  /// A node that was stored, changed or touched, with the records that were written.
  package struct Node: Sendable {
    package var identifier: String
    /// Of a new node, how far its number lies behind the first one that the entry could give.
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
    /// One that a later step takes out again.
    case passing
  }

  /// What became of a list.
  package enum ListEdit: Sendable {
    /// Steps, and what the inserts and updates among them bring, in their order.
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

  /// An index that was made or dropped.
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

  /// A schema version that a type has come to.
  package struct Schema: Sendable, Equatable {
    package var typeName: String
    package var version: UInt32
    /// By a migration from this one; `nil` by a program that has written the type.
    package var migratedFrom: UInt32?

    package init(_ typeName: String, _ version: UInt32, migratedFrom: UInt32? = nil) {
      (self.typeName, self.version, self.migratedFrom) = (typeName, version, migratedFrom)
    }
  }

  /// Nodes that were there and are gone, also those that have been stored anew since.
  package var removed: [String] = []
  package var nodes: [Node] = []
  package var lists: [List] = []
  /// Stored nodes that have become asked for.
  package var askedFor: [String] = []
  package var rules: [Rules] = []
  package var indexes: [IndexEdit] = []
  package var schemas: [Schema] = []
  /// Whether it is a commit.
  package var isCommit = false
  /// Whether no other commit may have come between what it saw and itself.
  package var isWholeStore = false

  package init() {}

  /// Whether an edit of a list is followed by steps of the same list.
  func hasSteps(behind index: Int) -> Bool {
    guard index + 1 < lists.count, lists[index + 1].cacheKey == lists[index].cacheKey,
      case .steps = lists[index + 1].edit
    else { return false }
    return true
  }

  /// Whether other stores have nothing to do for it.
  package var isEmpty: Bool {
    !isCommit && askedFor.isEmpty && rules.isEmpty && indexes.isEmpty && schemas.isEmpty
  }
}
