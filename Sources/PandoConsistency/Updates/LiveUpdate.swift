package import FoundationEssentials
package import PandoModels

/// One step of all live data: the nodes set and deleted together, with their origin.
///
/// It is made from models in memory (``init(setting:context:)``), or from the change set of a
/// commit. The models of a commit were passed to its write, or read after it.
package struct LiveUpdate: Sendable {
  /// The new models of one identifier.
  package struct Versions: Sendable {
    /// The given models, one for each type, in traversal order.
    ///
    /// A tree that contains the node in another type merges them in this order.
    package var given: [any SimpleModel] = []
    /// The stored models after the commit, one for each type; they take precedence over given ones.
    package var stored: [any SimpleModel] = []
    /// True if the node was deleted before it got these models.
    ///
    /// A tree that contains the node in a type without a model has lost it.
    package var followsDeletion = false
    /// The number of the last tree that contains the identifier.
    var tree = 0

    /// Returns the version for a type.
    func model(as type: any SimpleModel.Type) -> (any SimpleModel)? {
      for model in stored where Swift.type(of: model) == type { return model }
      for model in given where Swift.type(of: model) == type { return model }
      return nil
    }

    /// Returns true if the node was deleted, and has no model of a type since.
    func hasLost(_ type: any SimpleModel.Type) -> Bool {
      followsDeletion && model(as: type) == nil
    }
  }

  /// A deletion after `place` operations of an update, in the store or in memory only.
  package typealias Deletion = (nodes: Set<ByteString>, place: Int, isStored: Bool)

  /// The new models, by identifier.
  package var versions = VersionTable()
  /// The deleted identifiers, including those deleted with them.
  package var deleted: Set<ByteString> = []
  /// The deletions in a group of changes that are shown together, also of nodes that exist again.
  package var deletions: [Deletion] = []
  /// The deleted identifiers that are hidden in shown data only, and stay stored.
  package var hidden: Set<ByteString> = []
  /// True if models of the update may contain older data of each other.
  package var isNested = false
  /// The models passed to the call, for the listeners of all updates.
  package var models: [any SimpleModel] = []
  /// Passed to all notified listeners.
  package var context: (any Sendable)?
  package var date: Date
  /// The commit of this update; `nil` for an update in memory only.
  package var changeSet: ChangeSet?
  /// The queued operation that this update carries out; its holder always stages the update.
  package var operation: (any LiveOperation)?
  /// Further operations of the update, before `operation`.
  package var earlierOperations: [any LiveOperation] = []
  /// The changes of collections, by cache key.
  ///
  /// The subscribers of these topics stage the update.
  package var topics: [ByteString: any Sendable] = [:]
  /// Identifiers with different contents in one given tree.
  package var conflicts: [String] = []
  /// The error of an invalid tree; the update then contains no model.
  package internal(set) var refusal: ConsistencyError?
  /// The nodes of the given trees, if they are kept.
  var givenNodes: [TreeNodes.Node]?
  /// The count of given trees.
  var treeCount = 0
  /// The depth of the deepest given tree, in levels of nodes.
  var nodeDepth = 0
  /// True if an identifier was given with different contents or in different types.
  var hasSeveralVersions = false

  package init() { date = Date() }

  /// Creates an empty update.
  package init(date: Date) { self.date = date }

  /// All operations of the update, in order.
  package var operations: [any LiveOperation] {
    guard let operation else { return [] }
    return earlierOperations.isEmpty ? [operation] : earlierOperations + [operation]
  }

  /// True if the given models alone do not determine each node.
  package var isAmbiguous: Bool { hasSeveralVersions || !conflicts.isEmpty }

  /// True if the update sets and deletes nothing.
  var carriesNothing: Bool { versions.isEmpty && deleted.isEmpty }
}

/// A change that a holder has queued, until it is committed or has failed.
package protocol LiveOperation: AnyObject, Sendable {
  /// The number of the holder that shows the change already; `nil` if there is none.
  var holderNumber: UInt64? { get }
  /// True if the change is written to the store or cache; false if it changes shown data only.
  var isWritten: Bool { get }
}
