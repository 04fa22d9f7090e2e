extension DecodingError {
  /// What is wrong with the JSON, for whoever sent it.
  var sentence: String {
    switch self {
    case .keyNotFound(let key, let context):
      "\(Self.place(context.codingPath + [key])) is missing"
    case .valueNotFound(_, let context):
      "\(Self.place(context.codingPath)) is null"
    case .typeMismatch(let type, let context):
      "\(Self.place(context.codingPath)) is not \(Self.word(type))"
    case .dataCorrupted(let context) where context.codingPath.isEmpty:
      "the content is not JSON"
    case .dataCorrupted(let context):
      "\(Self.place(context.codingPath)) can't be read"
    @unknown default: "the content can't be read"
    }
  }

  private static func place(_ path: [any CodingKey]) -> String {
    let place = path.reduce("") { place, key in
      if let index = key.intValue { return "\(place)[\(index)]" }
      return place.isEmpty ? key.stringValue : "\(place).\(key.stringValue)"
    }
    return place.isEmpty ? "the content" : place
  }

  private static func word(_ type: any Any.Type) -> String {
    switch type {
    case is Bool.Type: "true or false"
    case is String.Type: "a string"
    case is Int.Type: "a number"
    case is [Any].Type: "a list"
    default: "an object"
    }
  }
}
