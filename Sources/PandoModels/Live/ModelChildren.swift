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
