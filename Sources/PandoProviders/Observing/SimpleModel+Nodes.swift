import PandoModels

extension SimpleModel {
  /// Whether a tree holds a node, as a model of a type.
  func containsNode(_ identifier: ByteString, as type: any SimpleModel.Type) -> Bool {
    if Swift.type(of: self) == type, modelIdentifier.map({ ByteString($0) }) == identifier {
      return true
    }
    guard let model = self as? any Model else { return false }
    var isFound = false
    model.forEach { child in
      if !isFound { isFound = child.containsNode(identifier, as: type) }
    }
    return isFound
  }
}
