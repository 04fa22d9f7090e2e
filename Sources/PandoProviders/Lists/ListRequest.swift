import PandoConsistency
import PandoModels

/// A change of a collection by positions, as a caller asks for it.
enum ListRequest<T: SimpleModel>: Sendable {
  case set([T])
  case insert([T], at: Int)
  case append([T])
  case update(T, at: Int)
  case removeOne(at: Int)
  case remove(Range<Int>)
  case move(from: Int, to: Int)
  /// One of the others, made when the list is known.
  indirect case placed(ListPlace<T>, models: [T], @Sendable (Int) -> ListRequest<T>)

  /// Whether it is about no element at all.
  var isNothing: Bool {
    if case .remove(let range) = self { range.isEmpty } else { false }
  }

  /// Why it can't be done to a list; `nil` if it can.
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

  /// The same with an index, if it has none.
  ///
  /// - Parameter index: Looks a place up; `nil` if nothing is to be done.
  /// - Returns: The request; `nil` if nothing is to be done.
  func placed(by index: (ListPlace<T>) throws -> Int?) rethrows -> ListRequest<T>? {
    guard case .placed(let place, _, let make) = self else { return self }
    return try index(place).map(make)
  }

  /// The same with elements in the place of positions.
  ///
  /// - Parameters:
  ///   - list: The list as the caller saw it; the request fits it.
  ///   - takeRows: Gives numbers to new rows.
  /// - Returns: The edit.
  func edit(in list: LiveList<T>, takeRows: (Int) -> [LiveRow]) -> ListEdit<T> {
    switch self {
    case .set(let models):
      .set(LiveList(rows: list.rows(for: models, takeRows: takeRows), models: models))
    case .insert(let models, let index):
      .insert(
        LiveList(rows: takeRows(models.count), models: models),
        at: ListAnchor(index, in: list.rows))
    case .append(let models):
      .insert(LiveList(rows: takeRows(models.count), models: models), at: .end)
    case .update(let model, let index): .update(list.rows[index], model)
    case .removeOne(let index): .remove([list.rows[index]])
    case .remove(let range): .remove(Array(list.rows[range]))
    case .move(let from, let to):
      .move(list.rows[from], to: ListAnchor(to, in: list.rows, without: from))
    case .placed: preconditionFailure("a place that nobody has looked up")
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
      "the element that was to be changed has gone from the collection; nothing was changed")
  }
}
