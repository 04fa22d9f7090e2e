import PandoConsistency
import PandoModels

/// A caller's request to change a collection by positions.
enum ListRequest<T: SimpleModel>: Sendable {
  case set([T])
  case insert([T], at: Int)
  case append([T])
  case update(T, at: Int)
  case removeOne(at: Int)
  case remove(Range<Int>)
  case move(from: Int, to: Int)
  /// A request whose index is looked up in the list when the request runs.
  indirect case placed(ListPlace<T>, models: [T], @Sendable (Int) -> ListRequest<T>)

  /// True if the request removes an empty range.
  var isNothing: Bool {
    if case .remove(let range) = self { range.isEmpty } else { false }
  }

  /// Returns the request with other contents for its models.
  func replacing(_ models: [T]) -> ListRequest<T> {
    switch self {
    case .set: .set(models)
    case .insert(_, let index): .insert(models, at: index)
    case .append: .append(models)
    case .update, .removeOne, .remove, .move, .placed: self
    }
  }

  /// Returns the error for a list of `count` elements; `nil` if the request is valid.
  func refusal(count: Int, _ subject: String) -> DataProviderError? {
    switch self {
    case .set, .append, .placed: nil
    case .insert(_, let index) where (0...count).contains(index): nil
    case .update(_, let index) where (0..<count).contains(index): nil
    case .removeOne(let index) where (0..<count).contains(index): nil
    case .remove(let range) where range.lowerBound >= 0 && range.upperBound <= count: nil
    case .move(let from, let to)
    where (0..<count).contains(from) && (0..<count).contains(to): nil
    case .insert(_, let index): .outOfRange("index \(index)", count, subject)
    case .update(_, let index): .outOfRange("index \(index)", count, subject)
    case .removeOne(let index): .outOfRange("index \(index)", count, subject)
    case .remove(let range): .outOfRange("range \(range)", count, subject)
    case .move(let from, let to): .outOfRange("move from \(from) to \(to)", count, subject)
    }
  }

  /// Returns the request with its index resolved.
  ///
  /// - Parameter index: Looks up a position; returns `nil` to cancel the request.
  /// - Returns: The request; `nil` if `index` returned `nil`.
  func placed(by index: (ListPlace<T>) throws -> Int?) rethrows -> ListRequest<T>? {
    guard case .placed(let place, _, let make) = self else { return self }
    return try index(place).map(make)
  }

  /// Returns the changed positions of a list of `count` elements.
  func plan(count: Int) -> ListPlan {
    switch self {
    case .set: .set
    case .insert(let models, let index): .insert(index..<(index + models.count))
    case .append(let models): .insert(count..<(count + models.count))
    case .update(_, let index): .update(index)
    case .removeOne(let index): .remove([index..<(index + 1)])
    case .remove(let range): range.isEmpty ? .nothing : .remove([range])
    case .move(let from, let to): .move(from: from, to: to)
    case .placed: preconditionFailure("a request whose index was not looked up")
    }
  }

  /// Returns an edit that identifies the elements by row number.
  ///
  /// - Parameters:
  ///   - list: The caller's list. Its positions must include those of the request.
  ///   - takeRows: Allocates numbers for new rows.
  /// - Returns: The edit.
  func edit(in list: LiveList<T>, takeRows: (Int) -> [LiveRow]) -> ListEdit<T> {
    switch self {
    case .set(let models):
      .set(LiveList(rows: list.rows(for: models, takeRows: takeRows), models: models))
    case .insert(let models, let index):
      .insert(
        LiveList(rows: takeRows(models.count), models: models), at: ListAnchor(index, in: list))
    case .append(let models):
      .insert(LiveList(rows: takeRows(models.count), models: models), at: .end)
    case .update(let model, let index): .update(list.element(at: index), model)
    case .removeOne(let index): .remove([list.element(at: index)])
    case .remove(let range): .remove(range.map(list.element))
    case .move(let from, let to):
      .move(list.element(at: from), to: ListAnchor(to, in: list, without: from))
    case .placed: preconditionFailure("a request whose index was not looked up")
    }
  }
}

extension DataProviderError {
  static func outOfRange(_ place: String, _ count: Int, _ subject: String) -> DataProviderError {
    DataProviderError(
      .indexOutOfRange, subject,
      "\(place) is outside the collection, which has \(count) elements; nothing was changed")
  }

  static func gone(_ subject: String) -> DataProviderError {
    DataProviderError(
      .superseded, subject,
      "the element to change is no longer in the collection; nothing was changed")
  }
}
