import PandoModels
import PandoStore

/// An element of a list, as somebody saw it: where, and what it was.
struct SeenElement<T: SimpleModel>: Sendable {
  let place: Int
  let model: T
}

/// A place between two elements, as somebody saw it.
struct SeenPlace<T: SimpleModel>: Sendable {
  let place: Int
  let before: T?
  let after: T?
}

/// A change of a list that is known only when it is carried out.
///
/// The elements it is about are found by their identifiers, near where they were seen.
indirect enum StoredEdit<T: SimpleModel>: Sendable {
  case set([T])
  case append([T])
  case insert([T], at: SeenPlace<T>)
  case update(T, SeenElement<T>)
  case remove([SeenElement<T>])
  case move(SeenElement<T>, to: SeenPlace<T>)
}

extension StoredEdit {
  /// What an edit of a shown list amounts to.
  ///
  /// - Parameters:
  ///   - edit: The edit.
  ///   - plan: Its places in `list`.
  ///   - list: What is shown before it.
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
    default: preconditionFailure("an edit with the plan of another one")
    }
  }
}
