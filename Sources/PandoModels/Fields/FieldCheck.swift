import PandoSystem

#if DEBUG
  /// Compares the two ways in which a ``FieldCodable`` type codes, once for each type.
  enum FieldCheck {
    private static let checked = Locked<Set<ObjectIdentifier>>([])

    /// Stops the process if a value has other bytes by its fields than by its `Codable`.
    static func check<Value: FieldCodable>(_ value: Value) {
      guard checked.withLock({ $0.insert(ObjectIdentifier(Value.self)).inserted }) else { return }
      // What can't be encoded is told to the one who asked for it.
      guard let plain = try? RecordEncoder.encodeValue(value, usingFields: false).body,
        let fast = try? RecordEncoder.encodeValue(value).body
      else { return }
      precondition(
        plain == fast, "\(Value.self): write(to:) writes other fields than encode(to:)")
      guard let copy = try? RecordDecoder.decodeValue(Value.self, from: fast) else { return }
      precondition(
        (try? RecordEncoder.encodeValue(copy, usingFields: false).body) == plain,
        "\(Value.self): init(fields:) reads something else than write(to:) has written")
    }
  }
#endif
