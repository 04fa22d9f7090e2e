import PandoConsistency
import PandoModels

/// Elements that were read, each in its stored and its shown form.
///
/// The forms differ if other live trees show newer data of its nodes.
struct ReadElements<T: SimpleModel> {
  struct Element {
    /// `nil` if the element is no longer stored.
    var stored: T?
    /// `nil` if the element is not shown.
    var shown: T?
  }

  /// After `compare()`, each element is stored or shown or both.
  private(set) var elements: [Element] = []
  /// True if the collection exists.
  let isPresent: Bool
  /// True if the stored and the shown form of an element differ.
  private(set) var differs = false
  /// True if an element is only stored or only shown.
  private(set) var isUneven = false

  /// Makes elements whose stored and shown forms are equal.
  init(_ models: [T]?) {
    isPresent = models != nil
    elements = (models ?? []).map { Element(stored: $0, shown: $0) }
  }

  /// Sets the shown form of each element.
  mutating func show(_ shown: [(any SimpleModel)?]) { replace(\.shown, by: shown) }

  /// Sets the stored form of each element.
  mutating func store(_ stored: [(any SimpleModel)?]) { replace(\.stored, by: stored) }

  private mutating func replace(
    _ part: WritableKeyPath<Element, T?>, by models: [(any SimpleModel)?]
  ) {
    for (index, model) in zip(elements.indices, models) {
      elements[index][keyPath: part] = model as? T
    }
  }

  /// Removes elements that are neither stored nor shown, and computes `isUneven` and `differs`.
  mutating func compare() {
    elements.removeAll { $0.stored == nil && $0.shown == nil }
    isUneven = elements.contains { $0.stored == nil || $0.shown == nil }
    differs = elements.contains { element in
      guard let stored = element.stored, let shown = element.shown else { return false }
      return !stored.isEqual(to: shown)
    }
  }

  /// The shown form of each element, or its stored form if it is not shown.
  var models: [T] { elements.compactMap { $0.shown ?? $0.stored } }

  /// Returns the stored elements with their rows.
  func stored(_ rows: [LiveRow]) -> LiveList<T> { list(\.stored, rows) }

  /// Returns the shown elements with their rows.
  func shown(_ rows: [LiveRow]) -> LiveList<T> { list(\.shown, rows) }

  private func list(_ part: KeyPath<Element, T?>, _ rows: [LiveRow]) -> LiveList<T> {
    var list = LiveList<T>()
    for (row, element) in zip(rows, elements) {
      guard let model = element[keyPath: part] else { continue }
      list.rows.append(row)
      list.models.append(model)
    }
    return list
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
      read.show(scope.join(models, since: number))
      read.store(scope.joinWritten(models, since: number))
    } else {
      read.show(manager.joined(models, scope))
    }
    read.compare()
    return read
  }

  /// Combines elements that were read for the running update with data set in memory.
  func overlaid(
    _ models: [T]?, _ update: LiveUpdate, _ scope: PipelineScope
  ) -> ReadElements<T> {
    var read = ReadElements(models)
    guard update.overlaysLists, let models else { return read }
    read.show(
      models.map { model in
        guard let regeneration = scope.regenerate(model) else { return model }
        return regeneration.model
      })
    read.compare()
    return read
  }

  /// Combines new elements of the running update with data set in memory.
  func overlaid(
    _ models: [Int: T], _ update: LiveUpdate, _ scope: PipelineScope
  ) -> [Int: T] {
    guard update.overlaysLists else { return models }
    return models.mapValues { scope.regenerate($0)?.model as? T ?? $0 }
  }
}
