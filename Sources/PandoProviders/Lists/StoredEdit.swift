import PandoModels
import PandoStore

/// An element of a list at an earlier time: its position and its model.
struct SeenElement<T: SimpleModel>: Sendable {
  let place: Int
  let model: T
}

/// A position between two elements at an earlier time.
struct SeenPlace<T: SimpleModel>: Sendable {
  let place: Int
  let before: T?
  let after: T?
}

/// A change of a list whose contents are loaded only when the edit runs.
///
/// The edit finds its elements by identifier, nearest to their earlier positions. An element
/// without an identifier is found by equality.
indirect enum StoredEdit<T: SimpleModel>: Sendable {
  case set([T])
  case append([T])
  case insert([T], at: SeenPlace<T>)
  case update(T, SeenElement<T>)
  case remove([SeenElement<T>])
  case move(SeenElement<T>, to: SeenPlace<T>)
}

extension StoredEdit {
  /// Makes the stored form of an edit of a shown list.
  ///
  /// - Parameters:
  ///   - edit: The edit.
  ///   - plan: The positions of the edit in `list`.
  ///   - list: The shown list before the edit.
  init(_ edit: ListEdit<T>, _ plan: ListPlan, in list: LiveList<T>) {
    func seen(_ place: Int) -> SeenElement<T> {
      SeenElement(place: place, model: list.models[place])
    }
    func between(_ place: Int, without hidden: Int? = nil) -> SeenPlace<T> {
      func model(_ place: Int) -> T? {
        let place = Hiding(hidden).actual(place)
        return list.models.indices.contains(place) ? list.models[place] : nil
      }
      return SeenPlace(
        place: place, before: place > 0 ? model(place - 1) : nil, after: model(place))
    }
    switch (edit, plan) {
    case (.set(let new), _): self = .set(new.models)
    case (.insert(let new, .end), _): self = .append(new.models)
    case (.insert(let new, _), .insert(let range)):
      self = .insert(new.models, at: between(range.lowerBound))
    case (.update(_, let model), .update(let place)): self = .update(model, seen(place))
    case (.remove, .remove(let ranges)): self = .remove(ranges.flatMap { $0.map(seen) })
    case (.move, .move(let from, let to)):
      self = .move(seen(from), to: between(to, without: from))
    default: preconditionFailure("the plan belongs to another edit")
    }
  }
}
