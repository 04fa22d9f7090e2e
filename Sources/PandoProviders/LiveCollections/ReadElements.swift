import PandoConsistency
import PandoModels

/// Elements that were read, each as it is stored and as it is shown: others may show its nodes otherwise.
struct ReadElements<T: SimpleModel> {
  struct Element {
    /// `nil` if it is not stored any more.
    var stored: T?
    /// `nil` if it is not shown.
    var shown: T?
  }

  /// Each is stored or shown.
  private(set) var elements: [Element] = []
  /// Whether there is such a collection.
  let isPresent: Bool
  /// Whether contents differ.
  private(set) var differs = false
  /// Whether elements are stored only, or shown only.
  private(set) var isUneven = false

  /// Elements that are shown as they are stored.
  init(_ models: [T]?) {
    isPresent = models != nil
    elements = (models ?? []).map { Element(stored: $0, shown: $0) }
  }

  /// Replaces what is shown of each element.
  mutating func show(_ shown: [(any SimpleModel)?]) { replace(\.shown, by: shown) }

  /// Replaces what is stored of each element.
  mutating func store(_ stored: [(any SimpleModel)?]) { replace(\.stored, by: stored) }

  private mutating func replace(
    _ part: WritableKeyPath<Element, T?>, by models: [(any SimpleModel)?]
  ) {
    for (index, model) in zip(elements.indices, models) {
      elements[index][keyPath: part] = model as? T
    }
  }

  /// Leaves out what is neither stored nor shown, and finds out what differs.
  mutating func compare() {
    elements.removeAll { $0.stored == nil && $0.shown == nil }
    isUneven = elements.contains { $0.stored == nil || $0.shown == nil }
    differs = elements.contains { element in
      guard let stored = element.stored, let shown = element.shown else { return false }
      return !stored.isEqual(to: shown)
    }
  }

  /// What stands for the elements when they get rows.
  var models: [T] { elements.compactMap { $0.shown ?? $0.stored } }

  /// The elements that are stored, with rows.
  func stored(_ rows: [LiveRow]) -> LiveList<T> { list(\.stored, rows) }

  /// The elements that are shown, with rows.
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
  /// Elements that were read by themselves, as they are among what is live.
  ///
  /// - Parameters:
  ///   - models: What the store or cache has answered.
  ///   - number: When a cache was asked.
  ///   - scope: Knows what is live.
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

  /// Elements that were read for the update at work, which may carry what was set in memory.
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

  /// New elements of the update at work, which may carry what was set in memory.
  func overlaid(
    _ models: [Int: T], _ update: LiveUpdate, _ scope: PipelineScope
  ) -> [Int: T] {
    guard update.overlaysLists else { return models }
    return models.mapValues { scope.regenerate($0)?.model as? T ?? $0 }
  }
}
