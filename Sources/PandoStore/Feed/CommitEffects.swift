package import PandoModels

/// What one write did, for those who keep something in step with the store.
package final class CommitEffects: Sendable {
  /// What changed; `nil` if nothing did.
  package let changeSet: ChangeSet?
  /// What the write was submitted with; `nil` for writes of users.
  package let ticket: (any Sendable)?
  /// The last commit when the write had run: its own, if it is one.
  package let number: UInt64
  /// What its caller sends along.
  package let context: (any Sendable)?
  /// The models that it was given.
  package let content: WrittenContent
  /// Why the write was refused; then nothing of it is stored.
  package let failure: (any Error)?

  init(
    _ changeSet: ChangeSet?, ticket: (any Sendable)?, number: UInt64,
    context: (any Sendable)? = nil, content: WrittenContent = WrittenContent(),
    failure: (any Error)? = nil
  ) {
    self.changeSet = changeSet
    self.ticket = ticket
    self.number = number
    self.context = context
    self.content = content
    self.failure = failure
  }
}

/// The models that a write was given, as far as they say what is stored.
///
/// Models are values, so keeping them costs no copy. Whoever shows one of the changed nodes need not
/// read it. What a write does by other means (merges, untyped trees, deletes after sets) is not in here;
/// then ``isPlain`` is `false`, or a changed node is not among the models, and it has to be read.
package struct WrittenContent: Sendable {
  /// Whether the write was of one kind, so that each model stands for what is stored under its
  /// identifier as its type, unless a later one with the same identifier does.
  package var isPlain: Bool { !isMixed && !(hasSets && hasDeletes) }
  /// Whether the write has deleted nodes: others may have lost them, by the rules of their edges.
  package private(set) var hasDeletes = false
  /// Whether a tree held a node under a former identifier.
  package private(set) var hasRenamed = false
  /// Roots of trees and elements of collections, in the order in which they were set.
  package private(set) var models: [any GivenModels] = []
  /// What came into the collections that have changed, by cache key.
  package private(set) var lists: [ByteString: ListContent] = [:]
  /// Identifiers that were to be deleted, whether they were there or not.
  package private(set) var deletes: [String] = []
  /// What was merged, or set by other means than whole models.
  private var others: [any GivenModels] = []
  private var trees: [TreeValue] = []
  private var names: [String] = []

  private var hasSets = false
  private var isMixed = false
  /// Elements that have been stored and are not listed yet.
  private var elements: (any GivenModels)?

  /// Notes a tree that was set.
  mutating func set(_ model: some SimpleModel, isOneNode: Bool) {
    append(GivenModel(model: model, areSingleNodes: isOneNode))
  }

  /// Notes a delete.
  ///
  /// - Parameter identifier: The node; `nil` if the write does not name it.
  mutating func delete(_ identifier: String? = nil) {
    hasDeletes = true
    if let identifier { deletes.append(identifier) }
  }

  /// Notes that something was changed by other means than whole models.
  mutating func mix() { isMixed = true }

  /// Notes nodes that were changed by other means than whole models.
  mutating func mix(named identifiers: [String]) {
    isMixed = true
    names += identifiers
  }

  /// Notes a node that a tree held under a former identifier: the tree is not stored as it was given.
  mutating func rename(_ identifier: String) {
    mix(named: [identifier])
    hasRenamed = true
  }

  /// Notes a model that was merged.
  mutating func mix(_ model: some SimpleModel) {
    isMixed = true
    others.append(GivenModel(model: model, areSingleNodes: false))
  }

  /// Notes untyped values.
  mutating func mix(_ values: [TreeValue]) {
    isMixed = true
    trees += values
  }

  /// Notes elements that are about to be listed.
  mutating func setElements<M: SimpleModel>(_ models: [M]) {
    let given = GivenArray(models: models)
    append(given)
    elements = given
  }

  /// Notes untyped elements that are about to be listed.
  mutating func mixElements(_ values: [TreeValue]) {
    mix(values)
    elements = nil
  }

  /// Notes that the elements given last came into a list.
  mutating func insert(into cacheKey: String) {
    let elements = exchange(&elements, with: nil)
    lists[ByteString(cacheKey), default: .steps([])].append(elements)
  }

  /// Notes that the elements given last are the list now.
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
  /// Whether the write has named no node.
  package var namesNothing: Bool {
    models.isEmpty && deletes.isEmpty && others.isEmpty && trees.isEmpty && names.isEmpty
  }

  /// Calls a closure with the identifiers of all nodes that the write has named, also those that the
  /// store had as it says: one may come several times.
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

/// What came into a collection.
package enum ListContent: Sendable {
  /// The elements of each step that brings some, insert or update, in the order of the steps.
  case steps([any GivenModels])
  /// All elements.
  case whole(any GivenModels)
  /// It has to be read.
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

/// Models that a write was given, of one type.
package protocol GivenModels: Sendable {
  /// Whether it is known that they have no nodes inside: then these need not be looked for.
  var areSingleNodes: Bool { get }

  /// Calls a closure with each, in order.
  func forEach(_ body: (any SimpleModel) -> Void)

  /// All of them, if they are of a type.
  func models<T>(as type: T.Type) -> [T]?
}

private struct GivenModel<M: SimpleModel>: GivenModels {
  let model: M
  let areSingleNodes: Bool

  func forEach(_ body: (any SimpleModel) -> Void) { body(model) }
  func models<T>(as type: T.Type) -> [T]? { (model as? T).map { [$0] } }
}

private struct GivenArray<M: SimpleModel>: GivenModels {
  let models: [M]
  var areSingleNodes: Bool { false }

  func forEach(_ body: (any SimpleModel) -> Void) { for model in models { body(model) } }
  func models<T>(as type: T.Type) -> [T]? { models as? [T] }
}
