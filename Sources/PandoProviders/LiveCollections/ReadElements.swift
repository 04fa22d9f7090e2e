import PandoConsistency
import PandoModels

/// Elements that were read, each in its stored and its shown form.
///
/// The forms differ if other live trees show newer data of its nodes.
struct ReadElements<T: SimpleModel> {
  /// `nil` stands for an element that is no longer stored.
  var stored: [T?]
  /// `nil` stands for an element that is not shown.
  var shown: [T?]
  /// True if the collection exists.
  let isPresent: Bool

  /// Makes elements whose stored and shown forms are equal.
  init(_ models: [T]?) {
    isPresent = models != nil
    stored = models ?? []
    shown = stored
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
    var read = ReadElements(models)
    guard let models else { return read }
    if let number {
      read.shown = scope.join(models, since: number).map { $0 as? T }
      read.stored = scope.joinWritten(models, since: number).map { $0 as? T }
    } else {
      read.shown = scope.joinStored(models).map { $0 as? T }
    }
    return read
  }

  /// Combines elements that were read for the running update with the overlay.
  func overlaid(_ models: [T]?, _ scope: PipelineScope) -> ReadElements<T> {
    var read = ReadElements(models)
    guard scope.overlay.isUsed, let models else { return read }
    read.shown = models.map { model in
      guard let regeneration = scope.regenerate(model) else { return model }
      return regeneration.model as? T
    }
    return read
  }

  /// Combines new elements of the running update with the overlay.
  func overlaid(_ models: [Int: T], _ scope: PipelineScope) -> [Int: T] {
    guard scope.overlay.isUsed else { return models }
    return models.mapValues { scope.regenerate($0)?.model as? T ?? $0 }
  }
}
