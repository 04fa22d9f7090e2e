import PandoConsistency
import PandoModels

/// Elements that were read, each in its stored and its shown form.
///
/// The forms of an element differ if other live trees show newer data of its nodes.
struct ReadElements<T: SimpleModel> {
  /// `nil` stands for an element that is no longer stored.
  private let stored: [T?]
  /// `nil` stands for an element that is not shown.
  private let shown: [T?]
  /// True if the collection exists.
  let isPresent: Bool

  /// Makes elements whose forms equal the elements that were read, unless they are given.
  init(_ models: [T]?, stored: [T?]? = nil, shown: [T?]? = nil) {
    isPresent = models != nil
    self.stored = stored ?? models ?? []
    self.shown = shown ?? models ?? []
  }

  /// The shown form of each element, or its stored form if it is not shown.
  var models: [T] { zip(shown, stored).compactMap { $0 ?? $1 } }

  /// Returns the stored and the shown elements with the rows of `models`.
  func lists(_ rows: [LiveRow]) -> (stored: LiveList<T>, shown: LiveList<T>) {
    var lists = (stored: LiveList<T>(), shown: LiveList<T>())
    var rest = rows[...]
    for (stored, shown) in zip(stored, shown) where stored != nil || shown != nil {
      let row = rest.removeFirst()
      if let stored { lists.stored.append(row, stored) }
      if let shown { lists.shown.append(row, shown) }
    }
    return lists
  }
}

extension LiveCollection {
  /// Combines elements that were read outside an update with the data of live trees.
  ///
  /// - Parameters:
  ///   - models: The elements from the store or cache.
  ///   - number: The join number of a request to a cache; `nil` otherwise.
  ///   - scope: Has the data of live trees.
  /// - Returns: The elements.
  func joined(
    _ models: [T]?, since number: UInt64?, _ scope: PipelineScope
  ) -> ReadElements<T> {
    guard let models else { return ReadElements(nil) }
    guard let number else {
      return ReadElements(models, shown: scope.joinStored(models).map { $0 as? T })
    }
    return ReadElements(
      models, stored: scope.joinWritten(models, since: number).map { $0 as? T },
      shown: scope.join(models, since: number).map { $0 as? T })
  }
}

extension PipelineScope {
  /// Returns an element of the running update as the overlay shows it; `nil` if it is hidden.
  func overlaid<T: SimpleModel>(_ model: T) -> T? {
    guard overlay.isUsed, let regeneration = regenerate(model) else { return model }
    return regeneration.model as? T
  }
}
