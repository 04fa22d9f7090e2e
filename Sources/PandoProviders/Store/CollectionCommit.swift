import PandoModels
import PandoStore

/// The effect of a commit on a collection.
enum CollectionCommit<T: SimpleModel>: Sendable {
  /// The commit carried out an edit of the collection itself, which has the details.
  case own
  /// Changes at positions, with the new models by their positions after all changes.
  case changes([CollectionChangeInformation], [Int: T])
  /// All elements; `nil` if the collection was deleted. `isReset` is true if it was set as a whole.
  case whole([T]?, isReset: Bool)
}

/// The elements that a commit gives to a list.
protocol CommittedElements {
  /// The models that were written or read.
  var models: [any SimpleModel] { get }
}

extension CollectionCommit: CommittedElements {
  var models: [any SimpleModel] {
    switch self {
    case .own: []
    case .changes(_, let models): Array(models.values)
    case .whole(let models, _): models ?? []
    }
  }
}

extension CollectionCommit {
  /// The maximum number of changes shown one by one; beyond it the whole collection is read.
  private static var changesMaximum: Int { 2048 }

  /// Derives the effect from the models passed to the write; returns `nil` if they do not suffice.
  init?(_ change: CollectionChange, _ content: ListContent?) {
    switch (change, content) {
    case (.reset, .whole(let given)):
      guard let models = given.models(as: T.self) else { return nil }
      self = .whole(models, isReset: true)
    case (.changes(let steps), .steps(let given)):
      var models: [T] = []
      for elements in given {
        guard let more = elements.models(as: T.self) else { return nil }
        models += more
      }
      self.init(steps, models)
    case (.changes(let steps), nil): self.init(steps, [])
    case (.reset, _), (.changes, _): return nil
    }
  }

  private init?(_ steps: [CollectionChangeInformation], _ models: [T]) {
    guard steps.count <= Self.changesMaximum, steps.incomingCount == models.count else {
      return nil
    }
    var found: [Int: T] = [:]
    for new in steps.newElements { found[new.place] = models[new.step] }
    self = .changes(steps, found)
  }

  /// Reads the elements that the changes of a list require.
  init(_ changes: [CollectionChange]?, _ cacheKey: String, in snapshot: ModelSnapshot) throws {
    var steps: [CollectionChangeInformation] = []
    for change in changes ?? [.reset] {
      switch change {
      case .reset:
        self = .whole(try snapshot.elements(cacheKey, as: T.self), isReset: true)
        return
      case .changes(let more): steps += more
      }
    }
    guard steps.count <= Self.changesMaximum else {
      self = .whole(try snapshot.elements(cacheKey, as: T.self), isReset: false)
      return
    }
    var models: [Int: T] = [:]
    for range in steps.newElements.map(\.place).joinedToRanges() {
      let elements = try snapshot.elements(cacheKey, as: T.self, in: range) ?? []
      for (place, model) in zip(range, elements) { models[place] = model }
    }
    self = .changes(steps, models)
  }
}

extension [CollectionChangeInformation] {
  /// The count of steps that have a model.
  fileprivate var incomingCount: Int {
    count { step in
      switch step {
      case .insert, .update: true
      case .delete, .move: false
      }
    }
  }

  /// The inserted and updated elements, with their positions after all changes.
  ///
  /// `step` is the number of the last step with the element's model, counted among steps that have
  /// a model.
  ///
  /// - Complexity: O(*c*²) for *c* changes.
  fileprivate var newElements: [(place: Int, step: Int)] {
    var new: [(place: Int, step: Int)] = []
    var step = 0
    for change in self {
      switch change {
      case .update(let index):
        if let known = new.firstIndex(where: { $0.place == index }) {
          new[known].step = step
        } else {
          new.append((index, step))
        }
        step += 1
      case .insert(let index):
        for at in new.indices where new[at].place >= index { new[at].place += 1 }
        new.append((index, step))
        step += 1
      case .delete(let index):
        new.removeAll { $0.place == index }
        for at in new.indices where new[at].place > index { new[at].place -= 1 }
      case .move(let from, let to):
        for at in new.indices {
          if new[at].place == from {
            new[at].place = to
          } else {
            let without = new[at].place > from ? new[at].place - 1 : new[at].place
            new[at].place = without >= to ? without + 1 : without
          }
        }
      }
    }
    return new
  }
}
