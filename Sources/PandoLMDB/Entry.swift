/// A key and its value in the map, decoded when asked for.
///
/// It lives as long as the call it was given to.
public struct Entry<Key, Value>: ~Escapable {
  /// The encoded key.
  public let keyBytes: Span<UInt8>
  /// The encoded value.
  public let valueBytes: Span<UInt8>
  private let table: Table<Key, Value>

  @_lifetime(copy keyBytes, copy valueBytes)
  init(_ keyBytes: Span<UInt8>, _ valueBytes: Span<UInt8>, _ table: Table<Key, Value>) {
    self.keyBytes = keyBytes
    self.valueBytes = valueBytes
    self.table = table
  }

  /// The key; decoded each time.
  public var key: Key {
    get throws { try table.keys.decode(keyBytes) }
  }

  /// The value; decoded each time.
  public var value: Value {
    get throws { try table.values.decode(valueBytes) }
  }
}

/// A value in the map, decoded when asked for.
///
/// It lives as long as the snapshot it was read from.
public struct LazyValue<Value>: ~Escapable {
  /// The encoded value.
  public let bytes: Span<UInt8>
  private let codec: any ValueCodec<Value>

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, _ codec: any ValueCodec<Value>) {
    self.bytes = bytes
    self.codec = codec
  }

  /// The value; decoded each time.
  public var value: Value {
    get throws { try codec.decode(bytes) }
  }
}
