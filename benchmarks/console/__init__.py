"""What a terminal shows: progress while experiments run (`display`), tables and failures at the end (`summary`)."""
