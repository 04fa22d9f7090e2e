package import PandoModels

/// What one write did, for those who keep something in step with the store.
package final class CommitEffects: Sendable {
  /// What changed; `nil` if nothing did.
  package let changeSet: ChangeSet?
  /// What the write was submitted with; `nil` for writes of users.
  package let ticket: (any Sendable)?
  /// The last commit when the write had run: its own, if it is one.
  package let number: UInt64
  /// The models that it was given.
  package let content: WrittenContent
  /// Why the write was refused; then nothing of it is stored.
  package let failure: (any Error)?

  init(
    _ changeSet: ChangeSet?, ticket: (any Sendable)?, number: UInt64,
    content: WrittenContent = WrittenContent(), failure: (any Error)? = nil
  ) {
    self.changeSet = changeSet
    self.ticket = ticket
    self.number = number
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
  /// Roots of trees and elements of collections, in the order in which they were set.
  package private(set) var models: [any GivenModels] = []
  /// What came into the collections that have changed, by cache key.
  package private(set) var lists: [ByteString: ListContent] = [:]

  private var hasSets = false
  private var isMixed = false
  /// Elements that have been stored and are not listed yet.
  private var elements: (any GivenModels)?

  /// Notes a tree that was set.
  mutating func set(_ model: some SimpleModel) { append(GivenModel(model: model)) }

  /// Notes a delete.
  mutating func delete() { hasDeletes = true }

  /// Notes that something was changed by other means than whole models.
  mutating func mix() { isMixed = true }

  /// Notes elements that are about to be listed.
  mutating func setElements<M: SimpleModel>(_ models: [M]) {
    let given = GivenArray(models: models)
    append(given)
    elements = given
  }

  /// Notes untyped elements that are about to be listed.
  mutating func mixElements() {
    isMixed = true
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
  /// Calls a closure with each, in order.
  func forEach(_ body: (any SimpleModel) -> Void)

  /// All of them, if they are of a type.
  func models<T>(as type: T.Type) -> [T]?
}

private struct GivenModel<M: SimpleModel>: GivenModels {
  let model: M

  func forEach(_ body: (any SimpleModel) -> Void) { body(model) }
  func models<T>(as type: T.Type) -> [T]? { (model as? T).map { [$0] } }
}

private struct GivenArray<M: SimpleModel>: GivenModels {
  let models: [M]

  func forEach(_ body: (any SimpleModel) -> Void) { for model in models { body(model) } }
  func models<T>(as type: T.Type) -> [T]? { models as? [T] }
}
