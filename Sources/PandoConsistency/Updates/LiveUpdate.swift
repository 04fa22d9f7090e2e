package import FoundationEssentials
package import PandoModels

/// One step of the live world: what was set and deleted together, and on whose behalf.
///
/// Made from models in memory (``init(setting:context:)``), or from the change set of a commit with
/// the models that its write was given, or that were read behind it.
package struct LiveUpdate: Sendable {
  /// The new models of one identifier.
  package struct Versions: Sendable {
    /// What was given, one model a type, in traversal order.
    ///
    /// A tree that shows the node as another type merges them in this order.
    package var given: [any SimpleModel] = []
    /// What the store holds after the commit, one model a type; it counts before what was given.
    package var stored: [any SimpleModel] = []
    /// The last tree that gave the identifier.
    var tree = 0

    package init() {}

    init(given: [any SimpleModel], stored: [any SimpleModel] = [], tree: Int) {
      self.given = given
      self.stored = stored
      self.tree = tree
    }
  }

  /// The new models, by identifier.
  package var versions = VersionTable()
  /// Identifiers that are deleted, with all that went with them.
  package var deleted: Set<ByteString> = []
  /// Identifiers that were deleted and are there again: who shows one as a type that the update does not
  /// carry has lost it.
  package var renewed: Set<ByteString> = []
  /// Of several changes that are shown together, the nodes that were deleted, be they there again: how
  /// many of the operations that it carries out came before, each time.
  package var departed: [ByteString: [Int]] = [:]
  /// The same of what was deleted where it is stored, too.
  package var storedDeparted: [ByteString: [Int]] = [:]
  /// Those among the deleted ones that vanish from what is shown, and stay where they are stored.
  package var vanished: Set<ByteString> = []
  /// Whether models that it carries may hold others that it carries, too, with older content.
  package var isNested = false
  /// Whether what was read of lists may be live otherwise, as it is carried.
  package var overlaysLists = false
  /// The top models given to the call, for those who listen to every update.
  package var models: [any SimpleModel] = []
  /// Travels to everyone who is told.
  package var context: (any Sendable)?
  /// When the change was made.
  package var date: Date
  /// The commit behind this update; `nil` for one in memory only.
  package var changeSet: ChangeSet?
  /// The queued operation that this update carries out; its holder is always asked.
  package var operation: (any LiveOperation)?
  /// Operations that it carries out besides, before that one.
  package var earlierOperations: [any LiveOperation] = []
  /// What happened to collections, by cache key.
  ///
  /// Whoever is subscribed to such a topic is asked.
  package var topics: [ByteString: any Sendable] = [:]
  /// Identifiers that one given tree holds several times with different content.
  package var conflicts: [String] = []
  /// Why a given tree can't be used; the update then carries no model.
  package internal(set) var refusal: ConsistencyError?
  /// The nodes of the given trees, if they are kept.
  var givenNodes: [TreeNodes.Node]?
  /// How many trees were given.
  var treeCount = 0
  /// How many levels of nodes the deepest of them has.
  var nodeDepth = 0
  /// Whether an identifier was given with different content, or as different types.
  var hasSeveralVersions = false

  package init() { date = Date() }

  /// An update that carries nothing yet.
  package init(date: Date) { self.date = date }

  /// All operations that it carries out, in order.
  package var operations: [any LiveOperation] {
    guard let operation else { return [] }
    return earlierOperations.isEmpty ? [operation] : earlierOperations + [operation]
  }

  /// Whether the given models alone do not say what becomes of each node.
  package var isAmbiguous: Bool { hasSeveralVersions || !conflicts.isEmpty }

  /// Whether it sets and deletes nothing.
  var carriesNothing: Bool { versions.isEmpty && deleted.isEmpty }
}

/// A change that a holder has queued, until it is committed or has failed.
package protocol LiveOperation: AnyObject, Sendable {
  /// The number of the holder that shows it already; `nil` if none does.
  var holderNumber: UInt64? { get }
  /// Whether it reaches the store or the cache; else it is shown only.
  var isWritten: Bool { get }
}
