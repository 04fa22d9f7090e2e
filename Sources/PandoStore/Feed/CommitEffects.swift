package import PandoModels

/// The effects of one write, for followers of the store.
package final class CommitEffects: Sendable {
  /// The changes; `nil` if there are none.
  package let changeSet: ChangeSet?
  /// The token of the submitted write; `nil` for writes of users.
  package let ticket: (any Sendable)?
  /// The number of the last commit after the write, without its history: its own, if it made one;
  /// 0 after a failed write.
  package let commitValue: UInt64
  /// The caller's context.
  package let context: (any Sendable)?
  /// The models passed to the write.
  package let content: WrittenContent
  /// The error of a failed write, which has stored nothing.
  package let failure: (any Error)?
  // For all followers, because a look into the change set copies it.

  /// Whether the write has made the commit ``commitValue``.
  package let isCommit: Bool
  /// Whether it was submitted with a token.
  package let hasTicket: Bool
  /// The updated, inserted and deleted nodes.
  package let nodes: [ByteString]
  /// The deleted nodes.
  package let deleted: [ByteString]
  /// Whether a node was updated.
  package let hasUpdated: Bool
  /// The number of changed ordered lists.
  package let listCount: Int

  init(
    _ changeSet: ChangeSet?, ticket: (any Sendable)?, commitValue: UInt64,
    context: (any Sendable)? = nil, content: WrittenContent = WrittenContent(),
    failure: (any Error)? = nil
  ) {
    self.changeSet = changeSet
    self.ticket = ticket
    self.commitValue = commitValue
    self.context = context
    self.content = content
    self.failure = failure
    hasTicket = ticket != nil
    isCommit = changeSet != nil
    (hasUpdated, nodes, deleted, listCount) = changeSet?.summary ?? (false, [], [], 0)
  }

  /// Makes the effects of a write that has failed.
  convenience init(ticket: (any Sendable)?, failure: any Error) {
    self.init(nil, ticket: ticket, commitValue: 0, failure: failure)
  }

  /// The model of the only changed node, if the write was given this one and nothing else.
  package var only: (any SimpleModel)? {
    guard nodes.count == 1, let only = content.only else { return nil }
    // A write may also report a node as changed that it was not given.
    return only.identifier.hasSameBytes(as: nodes[0].text) ? only.model : nil
  }
}

extension ChangeSet {
  /// Taken in one call, because each use of an optional change set copies it.
  fileprivate var summary: (Bool, nodes: [ByteString], deleted: [ByteString], listCount: Int) {
    (!updated.isEmpty, nodes, deleted.map { ByteString($0) }, collections.count)
  }

  /// The updated, inserted and deleted nodes.
  package var nodes: [ByteString] {
    var nodes: [ByteString] = []
    nodes.reserveCapacity(updated.count + inserted.count + deleted.count)
    for identifier in updated { nodes.append(ByteString(identifier)) }
    for identifier in inserted { nodes.append(ByteString(identifier)) }
    for identifier in deleted { nodes.append(ByteString(identifier)) }
    return nodes
  }
}

/// The models passed to a write, as far as they equal the stored state.
///
/// Models are values, so keeping them costs no copy. A follower that shows a changed node need not
/// read it. Other kinds of change (merges, untyped trees, deletes after sets) are not included.
/// Then ``isPlain`` is `false`, or a changed node is not among the models, and the follower reads
/// it.
///
/// `models`, `lists` and `deletes` describe whole models; `others`, `trees` and `names` only name
/// nodes. `elements` waits for its list. One write session fills it; then it is constant.
package struct WrittenContent: Sendable {
  /// Whether the write was of one kind: then each model equals the stored record of its identifier
  /// and type, unless a later one has the same identifier.
  package var isPlain: Bool { !isMixed && !(hasSets && hasDeletes) }
  /// Whether the write deleted nodes; the rules of edges may then have changed others.
  package private(set) var hasDeletes = false
  /// Whether a tree contained a node under a former identifier.
  package private(set) var hasRenamed = false
  /// The roots of trees and elements of collections, in the order in which they were set.
  package private(set) var models: [any GivenModels] = []
  /// The new contents of the changed collections, by cache key.
  package private(set) var lists: [ByteString: ListContent] = [:]
  /// The identifiers passed to deletes, whether they existed or not.
  package private(set) var deletes: [String] = []
  /// The models that were merged, or set other than as whole models.
  private var others: [any GivenModels] = []
  private var trees: [TreeValue] = []
  private var names: [String] = []

  private var hasSets = false
  private var isMixed = false
  /// Stored elements that are not listed yet.
  private var elements: (any GivenModels)?

  /// Notes a tree that was set; `node` is the identifier of a tree that is one node.
  mutating func set(_ model: some SimpleModel, node: String?) {
    append(GivenModel(model: model, node: node))
  }

  /// Notes a delete.
  ///
  /// - Parameter identifier: The node; `nil` if the write does not name it.
  mutating func delete(_ identifier: String? = nil) {
    hasDeletes = true
    if let identifier { deletes.append(identifier) }
  }

  /// Notes a change other than by whole models.
  mutating func mix() { isMixed = true }

  /// Notes nodes changed other than by whole models.
  mutating func mix(named identifiers: [String]) {
    isMixed = true
    names += identifiers
  }

  /// Notes a node under a former identifier: the stored tree differs from the given one.
  mutating func rename(_ identifier: String) {
    mix(named: [identifier])
    hasRenamed = true
  }

  /// Notes a model that was merged.
  mutating func mix(_ model: some SimpleModel) {
    isMixed = true
    others.append(GivenModel(model: model, node: nil))
  }

  /// Notes untyped values.
  mutating func mix(_ values: [TreeValue]) {
    isMixed = true
    trees += values
  }

  /// Notes elements before they are listed.
  mutating func setElements<M: SimpleModel>(_ models: [M]) {
    let given = GivenArray(models: models)
    append(given)
    elements = given
  }

  /// Notes untyped elements before they are listed.
  mutating func mixElements(_ values: [TreeValue]) {
    mix(values)
    elements = nil
  }

  /// Notes that the last elements were inserted into a list.
  mutating func insert(into cacheKey: String) {
    let elements = exchange(&elements, with: nil)
    lists[ByteString(cacheKey), default: .steps([])].append(elements)
  }

  /// Notes that the last elements are now the whole list.
  mutating func replace(_ cacheKey: String) {
    let elements = exchange(&elements, with: nil)
    lists[ByteString(cacheKey)] = elements.map { .whole($0) } ?? .unknown
  }

  /// Notes that an element was changed by other means.
  mutating func mix(_ cacheKey: String) { lists[ByteString(cacheKey)] = .unknown }

  private mutating func append(_ given: some GivenModels) {
    hasSets = true
    models.append(given)
  }
}

extension WrittenContent {
  /// Whether the models certainly contain no other nodes.
  package var areSingleNodes: Bool { models.allSatisfy { $0.areSingleNodes } }

  /// The node of a write that has set one node and done nothing else.
  fileprivate var only: (identifier: String, model: any SimpleModel)? {
    isPlain && models.count == 1 && lists.isEmpty ? models[0].only : nil
  }

  /// Whether the write has named no node.
  package var namesNothing: Bool {
    models.isEmpty && deletes.isEmpty && others.isEmpty && trees.isEmpty && names.isEmpty
  }

  /// Calls a closure with the identifiers of all nodes named by the write, including unchanged
  /// ones; an identifier may occur several times.
  package func forEachName(_ body: (String) -> Void) {
    for given in models { given.forEach { Self.visit($0, body) } }
    for given in others { given.forEach { Self.visit($0, body) } }
    for tree in trees { Self.visit(tree, body) }
    for identifier in deletes { body(identifier) }
    for identifier in names { body(identifier) }
  }

  private static func visit(_ node: any SimpleModel, _ body: (String) -> Void) {
    if let identifier = node.modelIdentifier { body(identifier) }
    (node as? any Model)?.forEach { visit($0, body) }
  }

  private static func visit(_ value: TreeValue, _ body: (String) -> Void) {
    switch value {
    case .node(let node):
      body(node.identifier)
      visit(node.fields, body)
    case .required(let inner): visit(inner, body)
    case .array(let elements): for element in elements { visit(element, body) }
    case .object(let fields): for field in fields.values { visit(field, body) }
    case .entries(let entries): for entry in entries.values { visit(entry, body) }
    case .null, .bool, .integer, .unsigned, .double, .string, .bytes, .tagged, .reference: break
    }
  }
}

/// The new contents of a collection.
package enum ListContent: Sendable {
  /// The elements of each inserting or updating step, in order.
  case steps([any GivenModels])
  /// All elements.
  case whole(any GivenModels)
  /// Unknown; it has to be read.
  case unknown

  fileprivate mutating func append(_ elements: (any GivenModels)?) {
    guard case .steps(var steps) = self, let elements else {
      self = .unknown
      return
    }
    self = .steps([])  // in place
    steps.append(elements)
    self = .steps(steps)
  }
}

/// Models of one type that were passed to a write.
package protocol GivenModels: Sendable {
  /// Whether they certainly contain no nodes, so that no search is needed.
  var areSingleNodes: Bool { get }

  /// The node, if it is certainly one, and was not given in an array.
  var only: (identifier: String, model: any SimpleModel)? { get }

  /// Calls a closure with each, in order.
  func forEach(_ body: (any SimpleModel) -> Void)

  /// All of them, if they have the type.
  func models<T>(as type: T.Type) -> [T]?
}

private struct GivenModel: GivenModels {
  let model: any SimpleModel
  /// Its identifier, if it certainly contains no other nodes.
  let node: String?
  var areSingleNodes: Bool { node != nil }
  var only: (identifier: String, model: any SimpleModel)? { node.map { ($0, model) } }

  func forEach(_ body: (any SimpleModel) -> Void) { body(model) }
  func models<T>(as type: T.Type) -> [T]? { (model as? T).map { [$0] } }
}

private struct GivenArray<M: SimpleModel>: GivenModels {
  let models: [M]
  var areSingleNodes: Bool { false }
  var only: (identifier: String, model: any SimpleModel)? { nil }

  func forEach(_ body: (any SimpleModel) -> Void) { for model in models { body(model) } }
  func models<T>(as type: T.Type) -> [T]? { models as? [T] }
}
