/// The first way to say what the children are: nothing at all.
///
/// A model all of whose stored properties are plain values, or lists, sets and maps of such, is not
/// encoded: it has no place for a child.
extension Model where Self: Codable {
  /// Returns a copy with every child that the coding meets replaced.
  ///
  /// A model whose own coding throws is returned as it is.
  ///
  /// - Parameter transform: Returns what replaces a child; `nil` to remove it. A model of another type
  ///   replaces nothing.
  /// - Returns: `nil` if a required child was removed.
  public func map(_ transform: (any Model) -> (any Model)?) -> Self? {
    if ChildPlaces.areMissing(in: self) { return self }
    do {
      return try LiveCoder.map(self, transform)
    } catch {
      return self
    }
  }

  /// Calls a closure with every child that the coding meets.
  ///
  /// - Parameter visit: Called once for each place of a child.
  public func forEach(_ visit: (any Model) -> Void) {
    if ChildPlaces.areMissing(in: self) { return }
    try? LiveCoder.forEach(self, visit)
  }
}

extension Model {
  /// Takes the data of a newer model: all of it from the same type, by field from another.
  ///
  /// Merging by field needs both to be `Codable`; without that this model stays as it is.
  ///
  /// - Parameter other: The newer model, of any type.
  /// - Returns: A model of this type.
  public func merge(_ other: any Model) -> any Model {
    if type(of: other) == type(of: self) { return other }
    unsafe TypeTable.traits(of: type(of: self)).pointee.defaultMerge?.note()
    let merged = ModelChildren.merge(other, into: self)
    if let watch = MergeWatch.current {
      let isPossible = ModelChildren.canMerge(other, into: self)
      if !isPossible || !merged.kept.isEmpty { watch.note(self, other, kept: merged.kept) }
    }
    return merged.model
  }
}

extension SimpleModel where Self: Encodable {
  /// Compares by coding: two models are equal if they would be stored as the same bytes.
  ///
  /// - Parameter other: A model of any type.
  /// - Returns: `false` if it has another type, or one of them can't be encoded.
  public func isEqual(to other: any SimpleModel) -> Bool {
    guard let other = other as? Self else { return false }
    guard let bytes = try? RecordEncoder.encodeValue(self).body,
      let others = try? RecordEncoder.encodeValue(other).body
    else { return false }
    return bytes == others
  }
}

extension SimpleModel where Self: Encodable & Equatable {
  /// Compares by `==`.
  ///
  /// - Parameter other: A model of any type.
  /// - Returns: `false` if it has another type.
  @inlinable
  public func isEqual(to other: any SimpleModel) -> Bool { isSame(as: other) }
}

/// What other modules ask about the children of models.
package enum ModelChildren {
  /// Calls a closure with the identifier of every node directly below a model.
  ///
  /// Models without identifier belong to the node around them: their children count.
  package static func forEachNode(of model: any Model, _ visit: (String) -> Void) {
    model.forEach { child in
      if let identifier = child.modelIdentifier {
        visit(identifier)
      } else {
        forEachNode(of: child, visit)
      }
    }
  }

  /// Replaces the children that a model's coding meets, whatever its own `map(_:)` does.
  ///
  /// - Parameters:
  ///   - model: Any model.
  ///   - transform: Returns what replaces a child; `nil` to remove it.
  /// - Returns: `nil` if a required child was removed; the model itself if it is not `Codable`, or can't
  ///   be coded.
  package static func mapCoded(
    _ model: any Model, _ transform: (any Model) -> (any Model)?
  ) -> (any Model)? {
    guard let codable = model as? any (Model & Codable) else { return model }
    func map<Value: Model & Codable>(_ model: Value) -> (any Model)? {
      do {
        return try LiveCoder.map(model, transform)
      } catch {
        return model
      }
    }
    return map(codable)
  }

  /// Lets the fields of a newer model of another type flow into one: those of the same name.
  ///
  /// - Parameters:
  ///   - newer: The model whose data counts.
  ///   - older: The model that keeps its type and all other fields.
  /// - Returns: The merged model, and the names of the fields that could not be taken; `older` itself
  ///   if one of them is not `Codable`, or can't be coded.
  package static func merge(
    _ newer: any Model, into older: any Model
  ) -> (model: any Model, kept: [String]) {
    guard let codable = older as? any (Model & Codable), let encodable = newer as? any Encodable
    else { return (older, []) }
    return merge(encodable, into: codable)
  }

  /// A model with the fields that its coding leaves out taken from an older one of its type.
  ///
  /// - Parameters:
  ///   - newer: The model whose fields count.
  ///   - older: Where the others come from.
  /// - Returns: The completed model; `newer` itself if it can't be coded.
  package static func complete<Value: Model & Codable>(
    _ newer: Value, from older: Value
  ) -> Value { (try? LiveCoder.complete(newer, from: older)) ?? newer }

  /// Whether a type is known to have no `merge(_:)` of its own: the default has run for one of its values.
  package static func mergesByDefault(_ type: any Model.Type) -> Bool {
    unsafe TypeTable.traits(of: type).pointee.defaultMerge?.hasRun ?? false
  }

  /// Whether one model has fields that can flow into another of another type.
  static func canMerge(_ newer: any Model, into older: any Model) -> Bool {
    older is any (Model & Codable) && newer is any Encodable
  }

  private static func merge<Value: Model & Codable>(
    _ newer: any Encodable, into older: Value
  ) -> (model: any Model, kept: [String]) {
    guard let merged = try? LiveCoder.merge(newer, into: older) else { return (older, []) }
    return merged
  }
}

/// Lets whoever maps a model say that a child stays as it is.
///
/// A closure that is given to `map(_:)` can only return a model, and models can't be compared cheaply.
/// With this, a model whose children all stay need not be made anew from its coding.
package final class MapWatch: @unchecked Sendable {
  // Sendable because it is used by the task that set it only, during one synchronous call.

  @TaskLocal package static var current: MapWatch?

  /// Set by the closure just before it returns: whether it returns the child as it is.
  ///
  /// The closure maps other models meanwhile, whose children set it too.
  package var keepsChild = false

  /// Set by a `map(_:)` just before it returns: whether it has found the children in the coding, as
  /// `forEach(_:)` does then.
  package var isCoded = false

  package init() {}
}

/// Notes what the default merge could not do, where somebody watches.
///
/// `merge(_:)` returns a model and nothing else; without this nobody would learn of a field that kept
/// its old value.
package final class MergeWatch: @unchecked Sendable {
  // Sendable because it is used by the task that set it only, during one synchronous call.

  /// A merge between two types that was not done, or not in every field.
  package struct Fault {
    package let older: any Model
    package let newer: any Model
    /// The fields that kept their values; empty if nothing could be taken.
    package let kept: [String]
  }

  @TaskLocal package static var current: MergeWatch?

  package private(set) var faults: [Fault] = []

  package init() {}

  func note(_ older: any Model, _ newer: any Model, kept: [String]) {
    faults.append(Fault(older: older, newer: newer, kept: kept))
  }

  /// Takes what was noted since the last time.
  package func takeFaults() -> [Fault] {
    defer { faults = [] }
    return faults
  }
}
