import PandoModels
import PandoRecords

extension SimpleModel {
  /// Returns true if a tree contains a node in a type.
  func containsNode(_ identifier: ByteString, as type: any SimpleModel.Type) -> Bool {
    func isSought(_ model: any SimpleModel, _ own: String?) -> Bool {
      Swift.type(of: model) == type && own.map { ByteString($0) } == identifier
    }
    guard let model = self as? any Model else { return isSought(self, modelIdentifier) }
    var isFound = false
    ModelChildren.walk(model) { node, own in
      if !isFound, isSought(node, own) { isFound = true }
      return !isFound
    }
    return isFound
  }
}
