import PandoModels
import PandoStore

/// What was read of a collection in the transaction of a commit that changed it.
enum CollectionCommit<T: SimpleModel>: Sendable {
  /// The commit carried out an edit of the collection itself, which knows the rest.
  case own
  /// It changed at places; with the models that are new, by their positions after all changes.
  case changes([CollectionChangeInformation], [Int: T])
  /// All elements; `nil` if there is no such collection any more. Whether it was set as a whole.
  case whole([T]?, isReset: Bool)
}

extension CollectionCommit {
  /// Beyond so many changes the whole collection is read.
  private static var changesMaximum: Int { 2048 }

  /// Reads what changes of a list make necessary.
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
    for range in steps.newPlaces.joinedToRanges() {
      let elements = try snapshot.elements(cacheKey, as: T.self, in: range) ?? []
      for (place, model) in zip(range, elements) { models[place] = model }
    }
    self = .changes(steps, models)
  }
}

extension [CollectionChangeInformation] {
  /// The positions, after all changes, of elements that came in or have new contents.
  ///
  /// - Complexity: O(*c*²) for *c* changes.
  fileprivate var newPlaces: [Int] {
    var places: [Int] = []
    for change in self {
      switch change {
      case .update(let index):
        if !places.contains(index) { places.append(index) }
      case .insert(let index):
        for at in places.indices where places[at] >= index { places[at] += 1 }
        places.append(index)
      case .delete(let index):
        places.removeAll { $0 == index }
        for at in places.indices where places[at] > index { places[at] -= 1 }
      case .move(let from, let to):
        for at in places.indices {
          if places[at] == from {
            places[at] = to
          } else {
            let without = places[at] > from ? places[at] - 1 : places[at]
            places[at] = without >= to ? without + 1 : without
          }
        }
      }
    }
    return places
  }
}

extension CollectionCommit: TreeCarrier {
  var nodes: [LiveNode] {
    switch self {
    case .own: []
    case .changes(_, let models): models.values.flatMap { LiveNode.nodes(of: $0) }
    case .whole(let models, _): models?.flatMap { LiveNode.nodes(of: $0) } ?? []
    }
  }
}
