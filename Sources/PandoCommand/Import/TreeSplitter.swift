import PandoModels

/// Splits plain JSON values into trees of nodes by a mapping.
///
/// Each object under a mapped property becomes a node, also as an element of an array or a value of
/// a map there. Any other object belongs to the node around it. For a type identified by keys, the
/// object under the property is always a map of nodes. Fields are visited in the order of their
/// bytes, so that equal input gives equal results and errors.
struct TreeSplitter {
  let mapping: ImportMapping
  /// Whether data outside every node is an error.
  let isStrict: Bool
  /// Whether `{"$reference": [identifier, type]}` stands for a stored node.
  let acceptsReferences: Bool
  /// The findings so far.
  var findings = SplitFindings()

  /// The present position in the document.
  var place = JSONPosition()
  /// The identifiers of the nodes around the position, outermost first.
  var enclosing: [String] = []

  init(_ mapping: ImportMapping, isStrict: Bool = false, acceptsReferences: Bool = false) {
    self.mapping = mapping
    self.acceptsReferences = acceptsReferences
    self.isStrict = isStrict
  }

  /// Drops the nodes so far, so that memory does not grow with the input.
  mutating func forgetNodes() {
    findings.forgetNodes()
  }

  /// Returns the trees in a document, in document order.
  ///
  /// - Parameter value: A plain value, without nodes and references.
  /// - Returns: The trees.
  /// - Throws: A bad-input error with the position in the document; also for data outside every
  ///   node, if that is forbidden.
  mutating func trees(in value: TreeValue) throws(CommandError) -> [TreeNode] {
    place = JSONPosition()
    enclosing = []
    findings.begin()
    var trees: [TreeNode] = []
    switch (mapping.root, value) {
    case (let root?, .object): try roots(value, root, into: &trees)
    case (let root?, .array(let elements)):
      for (index, element) in elements.enumerated() {
        place.enter(.index(index))
        if case .object = element {
          try roots(element, root, into: &trees)
        } else {
          findings.leaveOut(place)
        }
        place.leave()
      }
    default: try outside(value, into: &trees)
    }
    if isStrict, let place = findings.firstPending {
      throw CommandError(
        .badInput, at: place.text, "data outside every node",
        remedy: "map the property around it, or leave out --strict")
    }
    findings.settle()
    return trees
  }

  /// Returns an object as a node with a given identifier, to change that node.
  ///
  /// - Throws: A bad-input error with the position in the document.
  mutating func tree(
    _ value: TreeValue, identifier: String, typeName: String
  ) throws(CommandError) -> TreeNode {
    place = JSONPosition()
    enclosing = [identifier]
    guard case .object(let fields) = value else {
      throw CommandError(
        .badInput, "a node is a JSON object, not \(value.kindName)", remedy: "give {…}")
    }
    var isRequired = false
    let contents = try split(unescaped(fields), &isRequired)
    return TreeNode(identifier, type: typeName, fields: .object(contents))
  }

  /// Splits a value that is no node itself.
  ///
  /// - Throws: A bad-input error with the position in the document.
  mutating func element(_ value: TreeValue) throws(CommandError) -> TreeValue {
    place = JSONPosition()
    enclosing = []
    var isRequired = false
    return try split(value, &isRequired)
  }
}

// Inside a node.
extension TreeSplitter {
  /// Makes a node of an object with the identifying field, or under a key.
  mutating func node(
    _ value: TreeValue, _ type: NodeType, key: String? = nil
  ) throws(CommandError) -> TreeNode {
    guard case .object(var fields) = value else {
      preconditionFailure("only objects become nodes")
    }
    fields = unescaped(fields)
    let identifier = try identifier(of: fields, type, key)
    guard !enclosing.contains(where: { $0.utf8.elementsEqual(identifier.utf8) }) else {
      throw badInput("\(identifier) lies inside itself", "a node cannot be part of itself")
    }
    enclosing.append(identifier)
    var isRequired = false
    let contents = try split(fields, &isRequired)
    enclosing.removeLast()
    let node = TreeNode(identifier, type: type.typeName, fields: .object(contents))
    findings.meet(node)
    return node
  }

  private func identifier(
    of fields: [String: TreeValue], _ type: NodeType, _ key: String?
  ) throws(CommandError) -> String {
    if type.isKeyed {
      guard let key else {
        throw badInput(
          "a \(type.typeName) is identified by its key in a map, and an array has none",
          "correct the input, or map the property to a field")
      }
      return "\(type.typeName):\(key)"
    }
    guard let value = fields[type.field] else {
      throw badInput(
        "a \(type.typeName) without “\(type.field)”, the field that identifies it",
        "add the field, or map the property to another one")
    }
    guard let text = value.identifyingText else {
      throw badInput(
        "“\(type.field)” identifies a \(type.typeName), so it must be a text or a number, "
          + "not \(value.kindName)",
        "correct the field, or map the property to another one")
    }
    return "\(type.typeName):\(text)"
  }

  /// Splits the fields of an object; sets `isRequired` to `true` if the object requires one of
  /// them.
  mutating func split(
    _ fields: [String: TreeValue], _ isRequired: inout Bool
  ) throws(CommandError) -> [String: TreeValue] {
    var names: [String] = []
    for (name, value) in fields where value.isContainer { names.append(name) }
    guard !names.isEmpty else { return fields }
    names.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    var result = fields
    for name in names {
      guard let value = fields[name] else { continue }
      place.enter(.name(name))
      var isSlotRequired = false
      var slot: TreeValue
      if let type = mapping.properties[name] {
        slot = try split(value, under: type)
        switch slot {
        case .node, .reference: isSlotRequired = mapping.required.contains(name)
        default: break
        }
      } else {
        slot = try split(value, &isSlotRequired)
      }
      if isSlotRequired {
        slot = .required(slot)
        isRequired = true
      }
      result[name] = slot
      place.leave()
    }
    return result
  }

  /// Splits a value that is no node.
  ///
  /// A list drops deleted elements, so a requirement inside it ends there.
  mutating func split(
    _ value: TreeValue, _ isRequired: inout Bool
  ) throws(CommandError) -> TreeValue {
    switch value {
    case .object(let fields):
      if let reference = reference(fields) { return reference }
      return .object(try split(unescaped(fields), &isRequired))
    case .array(let elements):
      var result: [TreeValue] = []
      result.reserveCapacity(elements.count)
      for (index, element) in elements.enumerated() {
        guard element.isContainer else {
          result.append(element)
          continue
        }
        place.enter(.index(index))
        var ends = false
        result.append(try split(element, &ends))
        place.leave()
      }
      return .array(result)
    default: return value
    }
  }

  /// Splits the value of a mapped property: a node, a list of nodes, or a map of nodes.
  private mutating func split(
    _ value: TreeValue, under type: NodeType
  ) throws(CommandError) -> TreeValue {
    switch value {
    case .object(let fields):
      if let reference = reference(fields) { return reference }
      guard isMap(fields, of: type) else { return .node(try node(value, type)) }
      return try map(unescaped(fields), type)
    case .array(let elements):
      var result: [TreeValue] = []
      result.reserveCapacity(elements.count)
      for (index, element) in elements.enumerated() {
        place.enter(.index(index))
        var ends = false
        if case .object = element {
          result.append(try nodeOrReference(element, type))
        } else {
          result.append(try split(element, &ends))
        }
        place.leave()
      }
      return .array(result)
    default: return value
    }
  }

  /// Splits a map of nodes; a map without nodes is a plain object.
  private mutating func map(
    _ fields: [String: TreeValue], _ type: NodeType
  ) throws(CommandError) -> TreeValue {
    var result: [String: TreeValue] = [:]
    var hasNodes = false
    for name in fields.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      guard let element = fields[name] else { continue }
      place.enter(.name(name))
      if case .object = element {
        result[name] = try nodeOrReference(element, type, key: name)
        hasNodes = true
      } else {
        var ends = false
        result[name] = try split(element, &ends)
      }
      place.leave()
    }
    guard hasNodes else { return .object(result) }
    var entries: [TreeValue: TreeValue] = [:]
    for (name, element) in result { entries[.string(name)] = element }
    return .entries(entries)
  }

  mutating func nodeOrReference(
    _ value: TreeValue, _ type: NodeType, key: String? = nil
  ) throws(CommandError) -> TreeValue {
    if case .object(let fields) = value, let reference = reference(fields) { return reference }
    return .node(try node(value, type, key: key))
  }

  /// Whether an object is a map of nodes: keys identify the type, or the object lacks the
  /// identifying field and all its values have it.
  func isMap(_ fields: [String: TreeValue], of type: NodeType) -> Bool {
    if type.isKeyed { return true }
    return fields[type.field] == nil
      && fields.values.allSatisfy { value in
        guard case .object(let fields) = value else { return false }
        return fields[type.field] != nil || reference(fields) != nil
      }
  }

  /// Returns the stored node that an object references, where references are accepted.
  private func reference(_ fields: [String: TreeValue]) -> TreeValue? {
    guard acceptsReferences, fields.count == 1, let parts = fields["$reference"]?.arrayValue,
      parts.count == 2, let identifier = parts[0].stringValue, let typeName = parts[1].stringValue
    else { return nil }
    return .reference(identifier: identifier, typeName: typeName)
  }

  /// Returns the fields of an object as data, where references are accepted: ``ReferenceEscape``
  /// has marked data that looks like a reference.
  private func unescaped(_ fields: [String: TreeValue]) -> [String: TreeValue] {
    acceptsReferences ? ReferenceEscape.unescaped(fields) : fields
  }

  private func badInput(_ reason: String, _ remedy: String) -> CommandError {
    CommandError(.badInput, at: place.text, reason, remedy: remedy)
  }
}

// Outside every node.
extension TreeSplitter {
  /// Searches for nodes in a value outside every node.
  ///
  /// A value without any node is left out as a whole and named once.
  ///
  /// - Returns: Whether the value contains nodes.
  @discardableResult
  mutating func outside(
    _ value: TreeValue, into trees: inout [TreeNode], isTop: Bool = true
  ) throws(CommandError) -> Bool {
    let mark = findings.leftOutMark
    let countBefore = trees.count
    switch value {
    case .object(let fields):
      for name in fields.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
        guard let field = fields[name] else { continue }
        place.enter(.name(name))
        if let type = mapping.properties[name] {
          try collect(field, type, into: &trees)
        } else {
          try outside(field, into: &trees, isTop: false)
        }
        place.leave()
      }
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        place.enter(.index(index))
        try outside(element, into: &trees, isTop: false)
        place.leave()
      }
    default:
      findings.leaveOut(place)
      return false
    }
    let holdsNodes = trees.count > countBefore
    if !holdsNodes, !isTop {
      findings.takeBack(to: mark)
      findings.leaveOut(place)
    }
    return holdsNodes
  }

  /// Adds a top object as a tree, or its values if their keys identify them.
  private mutating func roots(
    _ value: TreeValue, _ type: NodeType, into trees: inout [TreeNode]
  ) throws(CommandError) {
    if type.isKeyed {
      try collect(value, type, into: &trees)
    } else {
      trees.append(try node(value, type))
    }
  }

  /// Adds the nodes under a mapped property as trees.
  private mutating func collect(
    _ value: TreeValue, _ type: NodeType, into trees: inout [TreeNode]
  ) throws(CommandError) {
    switch value {
    case .object(let fields) where !isMap(fields, of: type):
      trees.append(try node(value, type))
    case .object(let fields):
      for name in fields.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
        guard let element = fields[name] else { continue }
        place.enter(.name(name))
        if case .object = element {
          trees.append(try node(element, type, key: name))
        } else {
          try outside(element, into: &trees, isTop: false)
        }
        place.leave()
      }
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        place.enter(.index(index))
        if case .object = element {
          trees.append(try node(element, type))
        } else {
          try outside(element, into: &trees, isTop: false)
        }
        place.leave()
      }
    default: findings.leaveOut(place)
    }
  }
}
