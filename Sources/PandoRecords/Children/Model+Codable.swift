public import PandoModels

/// The first way to declare children: none is necessary.
///
/// A model whose stored properties are all plain values, or lists, sets and maps of these, is not
/// encoded: it can't have a child.
extension Model where Self: Codable {
  /// Returns a copy in which every child in the coding is replaced.
  ///
  /// A model whose own coding throws is returned unchanged.
  ///
  /// - Parameter transform: Returns the replacement of a child; `nil` removes it. A model of
  ///   another type is ignored.
  /// - Returns: `nil` if a required child was removed.
  public func map(_ transform: (any Model) -> (any Model)?) -> Self? {
    if ChildPlaces.areMissing(in: self) { return self }
    do {
      return try LiveCoder.map(self, transform)
    } catch {
      return self
    }
  }

  /// Calls a closure with every child in the coding.
  ///
  /// - Parameter visit: Called once per place of a child.
  public func forEach(_ visit: (any Model) -> Void) {
    if ChildPlaces.areMissing(in: self) { return }
    try? LiveCoder.forEach(self, visit)
  }
}

extension Model {
  /// Merges the data of a newer model: all of it from the same type, by field from another.
  ///
  /// Merging by field needs both to be `Codable`; otherwise this model stays unchanged.
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
  /// Compares by coding: two models are equal if their stored bytes are equal.
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

/// Functions on the children of models for other modules.
package enum ModelChildren {
  /// Calls a closure with the identifier of every node directly below a model.
  ///
  /// Models without identifier belong to the node around them: their children are included.
  package static func forEachNode(of model: any Model, _ visit: (String) -> Void) {
    model.forEach { child in
      if let identifier = child.modelIdentifier {
        visit(identifier)
      } else {
        forEachNode(of: child, visit)
      }
    }
  }

  /// Replaces the children in a model's coding, regardless of its own `map(_:)`.
  ///
  /// - Parameters:
  ///   - model: Any model.
  ///   - transform: Returns the replacement of a child; `nil` removes it.
  /// - Returns: `nil` if a required child was removed; the model itself if it is not `Codable` or
  ///   its coding throws.
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

  /// Merges the fields of a newer model of another type into one: those of the same name.
  ///
  /// - Parameters:
  ///   - newer: The model whose fields count.
  ///   - older: The model that keeps its type and all other fields.
  /// - Returns: The merged model, and the names of the fields that could not be merged; `older`
  ///   itself if one is not `Codable` or its coding throws.
  package static func merge(
    _ newer: any Model, into older: any Model
  ) -> (model: any Model, kept: [String]) {
    guard let codable = older as? any (Model & Codable), let encodable = newer as? any Encodable
    else { return (older, []) }
    return merge(encodable, into: codable)
  }

  /// Returns a model, with the fields that its coding omits taken from an older one of its type.
  ///
  /// - Parameters:
  ///   - newer: The model whose fields count.
  ///   - older: The source of the other fields.
  /// - Returns: The completed model; `newer` itself if its coding throws.
  package static func complete<Value: Model & Codable>(
    _ newer: Value, from older: Value
  ) -> Value { (try? LiveCoder.complete(newer, from: older)) ?? newer }

  /// Whether a type certainly has no own `merge(_:)`, because the default has run for one of its
  /// values.
  package static func mergesByDefault(_ type: any Model.Type) -> Bool {
    unsafe TypeTable.traits(of: type).pointee.defaultMerge?.hasRun ?? false
  }

  /// Whether the fields of one model can be merged into one of another type.
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

/// Lets a closure of `map(_:)` mark a child as unchanged.
///
/// Such a closure can only return a model, and models can't be compared cheaply. With this mark, a
/// model whose children are all unchanged is not made again from its coding.
package final class MapWatch: @unchecked Sendable {
  // Sendable because only the task that set it uses it, during one synchronous call.

  @TaskLocal package static var current: MapWatch?

  /// Set by the closure just before it returns: whether the child is unchanged.
  ///
  /// The closure may map other models before, whose children also set it.
  package var keepsChild = false

  /// Set by a `map(_:)` just before it returns: whether it has found the children in the coding, as
  /// `forEach(_:)` then does.
  package var isCoded = false

  package init() {}
}

/// Collects the failures of the default merge, if it is set.
///
/// `merge(_:)` returns only a model, without the fields that kept their old values.
package final class MergeWatch: @unchecked Sendable {
  // Sendable because only the task that set it uses it, during one synchronous call.

  /// A merge between two types that failed in some or all fields.
  package struct Fault {
    package let older: any Model
    package let newer: any Model
    /// The fields that kept their values; empty if all did.
    package let kept: [String]
  }

  @TaskLocal package static var current: MergeWatch?

  package private(set) var faults: [Fault] = []

  package init() {}

  func note(_ older: any Model, _ newer: any Model, kept: [String]) {
    faults.append(Fault(older: older, newer: newer, kept: kept))
  }

  /// Removes and returns the collected failures.
  package func takeFaults() -> [Fault] {
    defer { faults = [] }
    return faults
  }
}
