import PandoLMDB

extension StoreCore {
  /// Changes how much of the change log is kept.
  func changeRetention(_ change: (inout ChangeLogRetention) -> Void) throws {
    try whileInPlace {
      try environment.write { transaction in
        // Read again: another process may have changed it meanwhile.
        let handle = transaction.unsafeHandle
        let snapshot = unsafe Snapshot(unsafeHandle: handle)
        let reader = StoreReader(snapshot, tables: tables, directory: directory, pending: nil)
        let old = try reader.retention()
        var retention = old
        change(&retention)
        guard retention != old else { return }
        var keys: [[UInt8]] = []
        if old.keepsRecords, !retention.keepsRecords {
          try snapshot.scan(tables.changes) { key, _ in
            if ChangeLogKey.isOfRecords(key) { keys.append(Array(copying: key)) }
            return true
          }
        }
        let (key, bytes) = (ChangeLogRetention.key, retention.bytes)
        try transaction.put(bytes.span, forKey: key.span, in: tables.meta)
        // So that even a full store can be opened.
        transaction.isRelief = true
        for key in keys { try transaction.delete(key: key.span, in: tables.changes) }
      }
    }
  }
}
