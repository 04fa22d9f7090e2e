import PandoModels

/// Splits plain JSON values into trees of nodes by a mapping.
///
/// Every object under a mapped property, as an element of the array under it, or as a value of the
/// map under it, becomes a node; any other object belongs to the node around it. Field names are
/// visited in the order of their bytes, so that the same input gives the same result and the same
/// error every time.
struct TreeSplitter {
  let mapping: ImportMapping
  /// Whether data outside every node is an error.
  let isStrict: Bool
  /// Whether `{"$reference": [identifier, type]}` stands for a stored node.
  let acceptsReferences: Bool
  /// What was met on the way.
  var findings = SplitFindings()

  /// Where the splitter is in the document.
  var place = JSONPlace()
  /// Identifiers of the nodes around the current place, outermost first.
  var enclosing: [String] = []

  init(_ mapping: ImportMapping, isStrict: Bool = false, acceptsReferences: Bool = false) {
    self.mapping = mapping
    self.acceptsReferences = acceptsReferences
    self.isStrict = isStrict
  }

  /// Forgets which nodes were met, so that memory does not grow with the input.
  mutating func forgetNodes() {
    findings.forgetNodes()
  }

  /// The trees inside a document, in the order in which they stand there.
  ///
  /// - Parameter value: A plain value: no nodes, references or marks in it.
  /// - Returns: The trees.
  /// - Throws: A bad-input error with the place inside the document; also for data outside every
  ///   node when that is forbidden.
  mutating func trees(in value: TreeValue) throws(CommandError) -> [TreeNode] {
    place = JSONPlace()
    enclosing = []
    findings.begin()
    var trees: [TreeNode] = []
    switch (mapping.root, value) {
    case (let root?, .object): trees.append(try node(value, root))
    case (let root?, .array(let elements)):
      for (index, element) in elements.enumerated() {
        place.enter(.index(index))
        if case .object = element {
          trees.append(try node(element, root))
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

  /// One object as a node with a given identifier, for changing a node that is known by it.
  ///
  /// - Throws: A bad-input error with the place inside the document.
  mutating func tree(
    _ value: TreeValue, identifier: String, typeName: String
  ) throws(CommandError) -> TreeNode {
    place = JSONPlace()
    enclosing = [identifier]
    guard case .object(let fields) = value else {
      throw CommandError(
        .badInput, "a node is a JSON object, not \(value.kindName)", remedy: "give {…}")
    }
    var isRequired = false
    let contents = try split(fields, &isRequired)
    return TreeNode(identifier, type: typeName, fields: .object(contents))
  }

  /// A value that is no node itself, with the nodes inside it split off.
  ///
  /// - Throws: A bad-input error with the place inside the document.
  mutating func element(_ value: TreeValue) throws(CommandError) -> TreeValue {
    place = JSONPlace()
    enclosing = []
    var isRequired = false
    return try split(value, &isRequired)
  }
}
