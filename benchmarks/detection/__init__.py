"""Detection rules of SigmaHQ as subscriptions: translated to CEL, loaded, and run over events of started processes."""
